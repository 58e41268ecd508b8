"""The audit log takes in what staff do to battles, instructions, comments, reports and models."""

from django.db import migrations, models

ACTIONS = [
    ("exclude_vote", "excluded a vote"),
    ("restore_vote", "restored a vote"),
    ("exclude_voter", "excluded a voter"),
    ("restore_voter", "restored a voter"),
    ("dismiss", "dismissed a finding"),
    ("publish", "published within the hour"),
    ("hide_battle", "hid a battle"),
    ("show_battle", "showed a battle again"),
    ("hide_instruction", "hid an instruction"),
    ("show_instruction", "showed an instruction again"),
    ("hide_comment", "hid a comment"),
    ("show_comment", "published a comment"),
    ("dismiss_report", "dismissed a report"),
    ("retire", "retired a model"),
    ("activate", "activated a model"),
]


class Migration(migrations.Migration):
    dependencies = [("rankings", "0013_every_publication_is_of_a_kind")]

    operations = [
        migrations.AlterField(
            model_name="moderationact",
            name="action",
            field=models.CharField(choices=ACTIONS, db_index=True, max_length=20),
        ),
        migrations.AlterField(
            model_name="moderationact",
            name="subject",
            field=models.CharField(
                db_index=True, help_text="What it was done to, such as a vote, a voter or a battle.", max_length=255
            ),
        ),
    ]
