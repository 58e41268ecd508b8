from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("arena", "0005_phases_and_request_ids"),
    ]

    operations = [
        migrations.AddField(
            model_name="rollout",
            name="expired_at",
            field=models.DateTimeField(
                blank=True, help_text="Since when its recording is no longer kept (arena.retention).", null=True
            ),
        ),
        migrations.AddField(
            model_name="rollout",
            name="recording_deleted",
            field=models.BooleanField(default=False, help_text="Of an expired one: the episode store has let go."),
        ),
    ]
