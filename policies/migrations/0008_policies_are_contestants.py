"""`Policy` is what `models` and `robot_policies` say together; nothing changes in the database."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("policies", "0007_columns_of_robot_policies"),
        ("arena", "0014_without_what_only_robots_have"),
        ("rankings", "0010_boards_of_contestants"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.DeleteModel("PairChance"),
                migrations.DeleteModel("Hosting"),
                migrations.DeleteModel("PolicyColumns"),
                migrations.DeleteModel("Policy"),
                migrations.CreateModel(
                    name="Policy",
                    fields=[
                        (
                            "contestant_ptr",
                            models.OneToOneField(
                                auto_created=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                parent_link=True,
                                primary_key=True,
                                serialize=False,
                                to="arena.contestant",
                            ),
                        ),
                        ("adapter", models.CharField(max_length=50)),
                        ("training_data", models.TextField(blank=True, help_text="What it learned from.")),
                        (
                            "source",
                            models.CharField(
                                blank=True, help_text="Where weights and paper are to be found.", max_length=500
                            ),
                        ),
                        (
                            "parameters",
                            models.BigIntegerField(blank=True, help_text="Numbers in the network.", null=True),
                        ),
                        (
                            "weights_bytes",
                            models.BigIntegerField(
                                blank=True, help_text="Bytes of the weights as they are stored.", null=True
                            ),
                        ),
                        (
                            "statistics_key",
                            models.CharField(
                                blank=True,
                                help_text="The data set in whose units it acts; empty takes the folder's own, or the "
                                "family's usual one.",
                                max_length=100,
                            ),
                        ),
                        (
                            "card",
                            models.JSONField(
                                blank=True, default=dict, help_text="The policy.json as read when it was registered."
                            ),
                        ),
                    ],
                    options={"db_table": "robot_policies", "verbose_name_plural": "policies"},
                    bases=("arena.contestant",),
                ),
            ]
        ),
    ]
