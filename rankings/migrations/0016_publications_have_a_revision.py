from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("rankings", "0015_acts_on_tasks")]

    operations = [
        migrations.AddField(
            model_name="workerstatus",
            name="revision",
            field=models.PositiveBigIntegerField(
                default=0, help_text="Raised by each publication, and by each change of counts that is not a new vote."
            ),
        ),
    ]
