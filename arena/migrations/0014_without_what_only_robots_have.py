"""Columns that policies 0007 and robots 0001 have copied."""

from django.db import migrations, models

OF_POLICIES = {
    "adapter": models.CharField(default="", max_length=50),
    "card": models.JSONField(blank=True, default=dict),
    "parameters": models.BigIntegerField(blank=True, null=True),
    "source": models.CharField(blank=True, default="", max_length=500),
    "statistics_key": models.CharField(blank=True, default="", max_length=100),
    "training_data": models.TextField(blank=True, default=""),
    "weights_bytes": models.BigIntegerField(blank=True, null=True),
}


class Migration(migrations.Migration):
    dependencies = [
        ("arena", "0013_contestants_of_any_kind"),
        ("policies", "0007_columns_of_robot_policies"),
        ("robots", "0001_rollouts"),
    ]

    operations = [
        # With a default on the way down, so that the way back can add the columns to rows that there are.
        *(migrations.AlterField("contestant", name, field) for name, field in OF_POLICIES.items() if not field.null),
        migrations.AlterField("attempt", "start_hash", models.CharField(blank=True, default="", max_length=64)),
        *(migrations.RemoveField("contestant", name) for name in OF_POLICIES),
        *(
            migrations.RemoveField("attempt", name)
            for name in ("start_hash", "render_ms", "infer_ms", "physics_ms", "store_ms")
        ),
    ]
