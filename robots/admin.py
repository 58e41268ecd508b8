"""The admin's pages of robots."""

from __future__ import annotations

from robots.remote_admin import RemoteTrialAdmin
from robots.scene_admin import PublishedSceneAdmin
from robots.submission_admin import SubmissionAdmin
from robots.task_admin import PublishedTaskAdmin

__all__ = ["PublishedSceneAdmin", "PublishedTaskAdmin", "RemoteTrialAdmin", "SubmissionAdmin"]
