from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("arena", "0018_gallery")]

    operations = [
        migrations.AddField(
            model_name="vote",
            name="moved",
            field=models.BooleanField(
                db_default=False,
                default=False,
                editable=False,
                help_text="Cast under another id and moved to this voter: its answer to a clear battle earns no trust.",
            ),
        ),
    ]
