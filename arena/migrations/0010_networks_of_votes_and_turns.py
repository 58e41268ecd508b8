from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("arena", "0009_the_clock_releases_steps"),
    ]

    operations = [
        migrations.CreateModel(
            name="NetworkKey",
            fields=[
                (
                    "period",
                    models.PositiveIntegerField(
                        help_text="Days since 1970, divided by 28.", primary_key=True, serialize=False
                    ),
                ),
                ("secret", models.CharField(editable=False, max_length=64)),
            ],
            options={"db_table": "network_keys"},
        ),
        migrations.AddField(
            model_name="turn",
            name="network",
            field=models.CharField(
                blank=True,
                default="",
                help_text="The same of the address' /24 or /48; empty where it is exempt.",
                max_length=24,
            ),
            preserve_default=False,
        ),
        migrations.AddIndex(
            model_name="vote",
            index=models.Index(fields=["network", "voted_at"], name="votes_of_a_network"),
        ),
    ]
