"""Tasks that moderators write and publish, and what workers do with them before."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("robots", "0002_first_states"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="PublishedTask",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "task_id",
                    models.CharField(
                        blank=True, db_index=True, help_text="As the YAML says; empty if unread.", max_length=60
                    ),
                ),
                (
                    "yaml",
                    models.TextField(help_text="A list of one entry, as docs/goals.md describes it.", max_length=20000),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("draft", "draft"), ("published", "published"), ("withdrawn", "withdrawn")],
                        db_index=True,
                        default="draft",
                        max_length=10,
                    ),
                ),
                (
                    "edition",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Counts publications and withdrawals; processes compare it.",
                        null=True,
                        unique=True,
                    ),
                ),
                ("since", models.DateTimeField(blank=True, help_text="From when on sentences may mean it.", null=True)),
                ("until", models.DateTimeField(blank=True, null=True)),
                ("made_at", models.DateTimeField(default=django.utils.timezone.now)),
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
                (
                    "made_by",
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
                "verbose_name": "task",
                "db_table": "robot_published_tasks",
            },
        ),
        migrations.CreateModel(
            name="TaskTrial",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "what",
                    models.CharField(
                        choices=[("start", "a start"), ("check", "a check"), ("play", "a rollout")], max_length=5
                    ),
                ),
                ("yaml", models.TextField(help_text="The task as it was then.")),
                ("seed", models.PositiveIntegerField(default=0)),
                ("model_id", models.CharField(blank=True, help_text="The policy that plays.", max_length=100)),
                ("asked_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("done_at", models.DateTimeField(blank=True, null=True)),
                ("result", models.JSONField(blank=True, default=dict)),
                ("picture", models.BinaryField(default=bytes, help_text="WebP: the start, or the end of the rollout.")),
                (
                    "task",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="trials", to="robots.publishedtask"
                    ),
                ),
            ],
            options={
                "db_table": "robot_task_trials",
            },
        ),
        migrations.AddConstraint(
            model_name="publishedtask",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "draft"), _negated=True),
                fields=("task_id",),
                name="published_tasks_have_ids_of_their_own",
            ),
        ),
    ]
