"""The addresses under /api/ of studies."""

from __future__ import annotations

from arena.api.routes import route
from studies import api

urlpatterns = [
    *route("studies", api.Studies, "studies-api"),
    *route("studies/<str:study_id>", api.OneStudy, "study-api"),
    *route("studies/<str:study_id>/cancel", api.CancelStudy, "study-cancel-api"),
    *route("studies/<str:study_id>/resume", api.ResumeStudy, "study-resume-api"),
]
