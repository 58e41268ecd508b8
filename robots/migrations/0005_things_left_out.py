"""What a battle's seed left out of its scene, told with the first state."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("robots", "0004_remote_trials")]

    operations = [
        migrations.AddField(
            model_name="firststate",
            name="left_out",
            field=models.JSONField(
                help_text="Things of the scene that are not there; null while that is unknown.", null=True
            ),
        ),
    ]
