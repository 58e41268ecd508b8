"""Rename the fields of forks. Columns and constraints in the database stay as they are."""

import django.db.models.deletion
from django.db import migrations, models

CHECKS = {
    "only_explorations_say_where_they_start": models.Q(is_fork=True, fork_seed__isnull=False)
    | models.Q(is_fork=False, forked_from=None, fork_record=None, fork_seed=None),
    "one_of_several_starts_is_a_first_state": models.Q(start_seed=None) | models.Q(is_fork=False, start="reset"),
}
FIELDS = {
    "is_fork": models.BooleanField(
        db_column="exploration",
        db_index=True,
        default=False,
        help_text="Played after the vote, with the names known: counted nowhere.",
    ),
    "forked_from": models.ForeignKey(
        blank=True,
        db_column="explores_turn_id",
        help_text="Of a fork: the turn from whose recording it starts; none: its seed's first state.",
        null=True,
        on_delete=django.db.models.deletion.PROTECT,
        related_name="forks",
        to="arena.turn",
        to_field="turn_id",
    ),
    "fork_record": models.PositiveIntegerField(
        blank=True,
        db_column="explores_record",
        help_text="The record from which it starts; a side that ended earlier starts at its end.",
        null=True,
    ),
    "fork_seed": models.PositiveIntegerField(
        blank=True, db_column="explores_seed", help_text="In place of the battle's seed.", null=True
    ),
}
OLD_NAMES = ("exploration", "explores", "explores_record", "explores_seed")


class Migration(migrations.Migration):
    dependencies = [("arena", "0014_without_what_only_robots_have")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                *(migrations.RemoveConstraint("turn", name) for name in CHECKS),
                *(migrations.RenameField("turn", *names) for names in zip(OLD_NAMES, FIELDS, strict=True)),
                *(migrations.AlterField("turn", name, field) for name, field in FIELDS.items()),
                *(
                    migrations.AddConstraint("turn", models.CheckConstraint(condition=condition, name=name))
                    for name, condition in CHECKS.items()
                ),
            ]
        )
    ]
