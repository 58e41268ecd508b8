"""What only robots keep of an attempt goes to a table of its own."""

import django.db.models.deletion
from django.db import migrations, models

COLUMNS = ("start_hash", "render_ms", "infer_ms", "physics_ms", "store_ms")


def fill(apps, schema_editor):
    columns = ", ".join(COLUMNS)
    schema_editor.execute(
        f"INSERT INTO robot_rollouts (episode_id, {columns}) SELECT episode_id, {columns} FROM rollouts"  # noqa: S608
        " WHERE start_hash <> '' OR render_ms IS NOT NULL"
    )


def unfill(apps, schema_editor):
    pairs = ", ".join(
        f"{name} = (SELECT {name} FROM robot_rollouts AS kept WHERE kept.episode_id = rollouts.episode_id)"
        for name in COLUMNS
    )
    schema_editor.execute(
        f"UPDATE rollouts SET {pairs} WHERE episode_id IN (SELECT episode_id FROM robot_rollouts)"  # noqa: S608
    )


class Migration(migrations.Migration):
    initial = True

    dependencies = [("arena", "0013_contestants_of_any_kind")]

    operations = [
        migrations.CreateModel(
            name="Rollout",
            fields=[
                (
                    "attempt",
                    models.OneToOneField(
                        db_column="episode_id",
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        serialize=False,
                        to="arena.attempt",
                        to_field="episode_id",
                    ),
                ),
                (
                    "start_hash",
                    models.CharField(blank=True, help_text="SHA-256 of the state in which it started.", max_length=64),
                ),
                ("render_ms", models.FloatField(blank=True, null=True)),
                ("infer_ms", models.FloatField(blank=True, null=True)),
                ("physics_ms", models.FloatField(blank=True, null=True)),
                ("store_ms", models.FloatField(blank=True, null=True)),
            ],
            options={"db_table": "robot_rollouts"},
        ),
        migrations.RunPython(fill, unfill),
    ]
