"""What a battle begins with is shown before its first instruction."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("arena", "0015_forks"),
        ("robots", "0001_rollouts"),
    ]

    operations = [
        migrations.CreateModel(
            name="FirstState",
            fields=[
                (
                    "battle",
                    models.OneToOneField(
                        db_column="battle_id",
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        serialize=False,
                        to="arena.battle",
                        to_field="battle_id",
                    ),
                ),
                (
                    "row",
                    models.BinaryField(
                        default=bytes, help_text="A packed view row (simulation.view_format); empty until made."
                    ),
                ),
                ("made_at", models.DateTimeField(blank=True, null=True)),
                ("asked_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "db_table": "robot_first_states",
                "indexes": [
                    models.Index(
                        condition=models.Q(("made_at", None)), fields=["asked_at"], name="first_states_to_be_made"
                    )
                ],
            },
        ),
    ]
