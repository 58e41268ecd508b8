"""Boards and counts refer to the core's registry, which is in the same table as before."""

import django.db.models.deletion
from django.db import migrations, models


def to_contestant(name, related, field=models.ForeignKey, **more):
    return field(
        db_column=f"{name}_id",
        on_delete=django.db.models.deletion.PROTECT,
        related_name=related,
        to="arena.contestant",
        **more,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("rankings", "0009_closed_days_keep_facts_of_votes"),
        ("arena", "0013_contestants_of_any_kind"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField("modelstatsbyrobot", "model", to_contestant("model", "stats_by_robot")),
                migrations.AlterField(
                    "modelstatstotal", "model", to_contestant("model", "stats_total", models.OneToOneField)
                ),
                migrations.AlterField("votecount", "left_model", to_contestant("left_model", "+", db_index=False)),
                migrations.AlterField("votecount", "right_model", to_contestant("right_model", "+", db_index=False)),
            ]
        ),
    ]
