"""Asking the drawing worker to draw, check and play a moderator's scene. The web process only asks."""

from __future__ import annotations

from django.conf import settings

from robots.models import PublishedScene, SceneTrial
from robots.task_trials import send

TRY = "robots.try_scene"


def ask(scene: PublishedScene, what: str, seed: int = 0) -> SceneTrial:
    """Raises QueueUnavailable."""
    trial = SceneTrial.objects.create(scene=scene, what=what, yaml=scene.yaml, seed=seed)
    send(trial, TRY, settings.DRAWINGS_QUEUE)
    return trial
