from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rankings", "0018_acts_on_scenes"),
    ]

    operations = [
        migrations.CreateModel(
            name="PastDay",
            fields=[
                ("day", models.DateField(primary_key=True, serialize=False)),
                (
                    "episodes",
                    models.JSONField(
                        help_text="Kind -> of each contestant and task: episodes, successes, progress, its squares, failures."
                    ),
                ),
                (
                    "controls",
                    models.JSONField(
                        help_text="Kind -> voter -> calibration battles, their score, and repeats that named the same one "
                        "and the other."
                    ),
                ),
                ("stale", models.BooleanField(default=False, help_text="Whether its votes have changed since.")),
            ],
            options={
                "db_table": "past_days",
            },
        ),
    ]
