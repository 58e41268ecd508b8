"""A table for what visitors add to their votes: reasons, a sentence, and how far each side came."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("arena", "0015_forks"),
    ]

    operations = [
        migrations.CreateModel(
            name="Feedback",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "reasons",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Respect -> which side was better in it; respects are the kind's.",
                    ),
                ),
                ("why", models.CharField(blank=True, help_text="The visitor's own words; not public.", max_length=500)),
                (
                    "left_progress",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="How much of the task the left side did, 0 to 100, as the visitor judges it.",
                        null=True,
                    ),
                ),
                (
                    "right_progress",
                    models.PositiveSmallIntegerField(blank=True, help_text="The same of the right side.", null=True),
                ),
                ("created_at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "battle",
                    models.OneToOneField(
                        db_column="battle_id",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="feedback",
                        to="arena.battle",
                        to_field="battle_id",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "feedback",
                "db_table": "feedback",
                "ordering": ["-created_at"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("left_progress", None), ("left_progress__lte", 100), _connector="OR"),
                        name="left_progress_is_at_most_100",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("right_progress", None), ("right_progress__lte", 100), _connector="OR"),
                        name="right_progress_is_at_most_100",
                    ),
                ],
            },
        ),
    ]
