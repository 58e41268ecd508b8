"""What moderators hide from the public: battles, and the text of instructions."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("arena", "0016_feedback"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="battle",
            options={
                "ordering": ["-created_at"],
                "permissions": [
                    ("reveal_names", "Can reveal the names of a battle before its vote, which spoils it"),
                    ("hide_battle", "Can hide a battle or an instruction from the public"),
                ],
            },
        ),
        migrations.AddField(
            model_name="battle",
            name="hidden_at",
            field=models.DateTimeField(
                blank=True,
                help_text="Since when a moderator hides it from the public. Its vote counts all the same.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="battle",
            name="hidden_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="battle",
            name="hidden_reason",
            field=models.CharField(blank=True, help_text="For moderators; it is never public.", max_length=500),
        ),
        migrations.AddField(
            model_name="turn",
            name="instruction_hidden_at",
            field=models.DateTimeField(
                blank=True, help_text="Since when a moderator hides its text from the public.", null=True
            ),
        ),
    ]
