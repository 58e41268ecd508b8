"""Servers that operators want entered, which workers try."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("robots", "0003_published_tasks"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="RemoteTrial",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "model_id",
                    models.SlugField(
                        help_text="Of the policy: a new id, or that of a remote policy that is to be updated.",
                        max_length=100,
                        verbose_name="id",
                    ),
                ),
                (
                    "url",
                    models.CharField(
                        help_text="Such as ws://gpu-3:8000 or wss://gpu.example.org.",
                        max_length=500,
                        verbose_name="address",
                    ),
                ),
                (
                    "key_variable",
                    models.CharField(
                        blank=True,
                        help_text="Environment variable of the workers with its key; ends in _API_KEY.",
                        max_length=100,
                    ),
                ),
                (
                    "contract",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text='What the server does not declare of itself, such as {"chunk": 8}: docs/bring-your-own-policy.md.',
                    ),
                ),
                ("asked_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("done_at", models.DateTimeField(blank=True, null=True)),
                (
                    "outcome",
                    models.TextField(blank=True, help_text="Why it was refused, or how long an inference took."),
                ),
                ("entered", models.BooleanField(default=False)),
                (
                    "asked_by",
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
                "verbose_name": "remote policy to try",
                "verbose_name_plural": "remote policies to try",
                "db_table": "robot_remote_trials",
            },
        ),
    ]
