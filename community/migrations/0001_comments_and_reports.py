"""Comments on shared battles, and reports to moderators."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("arena", "0017_hidden"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Comment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField(max_length=1000)),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "waits for a moderator"), ("public", "public"), ("hidden", "hidden")],
                        db_index=True,
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comments",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "battle",
                    models.ForeignKey(
                        db_column="battle_id",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comments",
                        to="arena.battle",
                        to_field="battle_id",
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "comments",
                "ordering": ["-created_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="Report",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "what",
                    models.CharField(
                        choices=[("battle", "the battle"), ("instruction", "an instruction"), ("comment", "a comment")],
                        max_length=12,
                    ),
                ),
                (
                    "subject",
                    models.CharField(
                        db_index=True, editable=False, help_text="What it is about, in a word.", max_length=60
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("abuse", "It insults or threatens somebody"),
                            ("personal", "It reveals something private about a person"),
                            ("sexual", "It is sexual or violent"),
                            ("spam", "It is advertising or nonsense"),
                            ("other", "Something else"),
                        ],
                        max_length=10,
                    ),
                ),
                ("text", models.TextField(blank=True, max_length=1000)),
                (
                    "reporter",
                    models.CharField(editable=False, help_text="A keyed digest of visitor or address.", max_length=24),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "open"), ("upheld", "upheld"), ("dismissed", "dismissed")],
                        db_index=True,
                        default="open",
                        max_length=10,
                    ),
                ),
                ("resolved_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                (
                    "battle",
                    models.ForeignKey(
                        db_column="battle_id",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reports",
                        to="arena.battle",
                        to_field="battle_id",
                    ),
                ),
                (
                    "comment",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reports",
                        to="community.comment",
                    ),
                ),
                (
                    "resolved_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "turn",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reports",
                        to="arena.turn",
                    ),
                ),
            ],
            options={
                "db_table": "reports",
                "ordering": ["-created_at", "-pk"],
                "permissions": [("moderate", "Can resolve reports, and publish and hide comments")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("comment", None), ("turn", None), ("what", "battle")),
                            models.Q(("comment", None), ("turn__isnull", False), ("what", "instruction")),
                            models.Q(("comment__isnull", False), ("turn", None), ("what", "comment")),
                            _connector="OR",
                        ),
                        name="a_report_names_what_it_is_about",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "open")),
                        fields=("subject", "reporter"),
                        name="one_open_report_of_a_visitor_about_a_thing",
                    ),
                ],
            },
        ),
    ]
