"""Publications, findings, the classic Elo and what closed days keep are a kind's: room for its name."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("rankings", "0010_boards_of_contestants")]

    operations = [
        migrations.AddField("snapshot", "kind", models.CharField(max_length=20, null=True)),
        migrations.AddField(
            "finding",
            "arena",
            models.CharField(
                blank=True,
                default="",
                help_text="The kind of arena it was found in; empty: it holds in all.",
                max_length=20,
            ),
        ),
        migrations.RemoveConstraint("finding", "one_finding_per_kind_and_subject"),
        migrations.AddConstraint(
            "finding",
            models.UniqueConstraint(fields=("kind", "arena", "subject"), name="one_finding_per_kind_arena_and_subject"),
        ),
        # A board's name was its key, and becomes one of a kind.
        migrations.RenameModel("ClassicElo", "ClassicEloOfRobots"),
        migrations.AlterModelTable("classiceloofrobots", "classic_elo_of_robots"),
        migrations.CreateModel(
            "ClassicElo",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=20)),
                ("board", models.CharField(max_length=100)),
                ("ratings", models.JSONField(default=dict)),
                ("last_voted_at", models.DateTimeField(null=True)),
                ("last_vote_id", models.BigIntegerField(default=0)),
                ("stale", models.BooleanField(default=False)),
            ],
            options={"db_table": "classic_elo"},
        ),
        migrations.AddConstraint(
            "classicelo",
            models.UniqueConstraint(fields=("kind", "board"), name="one_classic_elo_per_kind_and_board"),
        ),
        migrations.AlterField(
            "closedday",
            "answers",
            models.JSONField(
                default=dict, help_text="Kind -> voter -> calibration battles answered right, wrong and even."
            ),
        ),
    ]
