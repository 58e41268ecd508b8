from django.db import migrations, models

import arena.models


class Migration(migrations.Migration):
    dependencies = [
        ("arena", "0007_newest_votes_of_a_model"),
    ]

    operations = [
        migrations.AddField(
            model_name="battle",
            name="render_profile",
            field=models.CharField(
                blank=True,
                default="",
                editable=False,
                help_text="What renders for both sides; empty until one has started.",
                max_length=120,
            ),
            preserve_default=False,
        ),
        # Battles of before have none: what their policies saw was not varied.
        migrations.AddField(
            model_name="battle",
            name="secret",
            field=models.CharField(blank=True, default="", editable=False, max_length=32),
        ),
        migrations.AlterField(
            model_name="battle",
            name="secret",
            field=models.CharField(
                blank=True,
                default=arena.models._secret,
                editable=False,
                help_text="Hexadecimal. Varies what both policies see, alike; told with the vote. Empty: none was drawn.",
                max_length=32,
            ),
        ),
        migrations.AddField(
            model_name="battle",
            name="spoiled",
            field=models.BooleanField(
                default=False, help_text="A member of staff saw the names before the vote: the battle counts nowhere."
            ),
        ),
        migrations.AddField(
            model_name="turn",
            name="release_from",
            field=models.DateTimeField(
                blank=True,
                help_text="When the first step is shown, of both sides; the clock of the turn starts here.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="turn",
            name="shown_at",
            field=models.DateTimeField(
                blank=True,
                help_text="When visitors are told that the turn has settled: at the end of its clock.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="turn",
            name="told_seq",
            field=models.PositiveIntegerField(
                blank=True, help_text="The battle's event number that visitors know until `shown_at`.", null=True
            ),
        ),
        migrations.AddField(
            model_name="vote",
            name="address",
            field=models.CharField(
                blank=True,
                default="",
                editable=False,
                help_text="A keyed digest of the address that it came from.",
                max_length=24,
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="vote",
            name="network",
            field=models.CharField(
                blank=True,
                default="",
                editable=False,
                help_text="A keyed digest of the address' /24 or /48; empty for networks without a cap and for old votes.",
                max_length=24,
            ),
            preserve_default=False,
        ),
    ]
