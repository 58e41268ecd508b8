"""Moderators publish and withdraw scenes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rankings", "0017_acts_on_submissions"),
    ]

    operations = [
        migrations.AlterField(
            model_name="moderationact",
            name="action",
            field=models.CharField(
                choices=[
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
                    ("publish_task", "published a task"),
                    ("withdraw_task", "withdrew a task"),
                    ("approve_submission", "approved a submitted policy"),
                    ("refuse_submission", "refused a submitted policy"),
                    ("publish_scene", "published a scene"),
                    ("withdraw_scene", "withdrew a scene"),
                ],
                db_index=True,
                max_length=20,
            ),
        ),
    ]
