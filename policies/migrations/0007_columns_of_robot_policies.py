"""What only robot policies have goes to a table of its own; the rest is `arena.Contestant` (arena 0013)."""

import django.db.models.deletion
from django.db import migrations, models

COLUMNS = (*("adapter", "training_data", "source", "parameters", "weights_bytes", "statistics_key", "card"),)


def fill(apps, schema_editor):
    columns = ", ".join(COLUMNS)
    schema_editor.execute(f"INSERT INTO robot_policies (contestant_ptr_id, {columns}) SELECT id, {columns} FROM models")


def unfill(apps, schema_editor):
    pairs = ", ".join(
        f"{name} = (SELECT {name} FROM robot_policies WHERE contestant_ptr_id = models.id)" for name in COLUMNS
    )
    schema_editor.execute(f"UPDATE models SET {pairs} WHERE id IN (SELECT contestant_ptr_id FROM robot_policies)")


class Migration(migrations.Migration):
    dependencies = [
        ("policies", "0006_what_renders_where"),
        ("arena", "0013_contestants_of_any_kind"),
    ]

    operations = [
        migrations.CreateModel(
            name="PolicyColumns",
            fields=[
                (
                    "contestant_ptr",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        serialize=False,
                        to="arena.contestant",
                        related_name="+",
                    ),
                ),
                ("adapter", models.CharField(max_length=50)),
                ("training_data", models.TextField(blank=True)),
                ("source", models.CharField(blank=True, max_length=500)),
                ("parameters", models.BigIntegerField(blank=True, null=True)),
                ("weights_bytes", models.BigIntegerField(blank=True, null=True)),
                ("statistics_key", models.CharField(blank=True, max_length=100)),
                ("card", models.JSONField(blank=True, default=dict)),
            ],
            options={"db_table": "robot_policies"},
        ),
        migrations.RunPython(fill, unfill),
    ]
