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
        migrations.AlterField(
            "classicelo", "board", models.CharField(max_length=200, primary_key=True, serialize=False)
        ),
        migrations.AlterField(
            "closedday",
            "answers",
            models.JSONField(
                default=dict, help_text="Kind -> voter -> calibration battles answered right, wrong and even."
            ),
        ),
    ]
