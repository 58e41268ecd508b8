"""Scenes that moderators compose."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("robots", "0006_submissions"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="PublishedScene",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
                    "scene_id",
                    models.CharField(
                        blank=True, db_index=True, help_text="As the YAML says; empty if unread.", max_length=50
                    ),
                ),
                (
                    "yaml",
                    models.TextField(
                        help_text="A list of one entry, as docs/worlds.md describes it.", max_length=20000
                    ),
                ),
                ("manifest", models.JSONField(blank=True, default=dict)),
                ("xml", models.TextField(blank=True)),
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
                "verbose_name": "scene",
                "db_table": "robot_published_scenes",
            },
        ),
        migrations.CreateModel(
            name="SceneTrial",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "what",
                    models.CharField(
                        choices=[("start", "a start"), ("check", "a check"), ("play", "a rollout")], max_length=5
                    ),
                ),
                ("seed", models.PositiveIntegerField(default=0)),
                ("asked_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("done_at", models.DateTimeField(blank=True, null=True)),
                ("result", models.JSONField(blank=True, default=dict)),
                ("picture", models.BinaryField(default=bytes, help_text="WebP: the start, or the end of the rollout.")),
                ("yaml", models.TextField(help_text="The scene as it was then.")),
                ("manifest", models.JSONField(blank=True, default=dict)),
                ("xml", models.TextField(blank=True)),
                (
                    "scene",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="trials", to="robots.publishedscene"
                    ),
                ),
            ],
            options={
                "db_table": "robot_scene_trials",
            },
        ),
        migrations.AddConstraint(
            model_name="publishedscene",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "draft"), _negated=True),
                fields=("scene_id",),
                name="published_scenes_have_ids_of_their_own",
            ),
        ),
    ]
