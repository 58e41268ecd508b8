"""The addresses of the pages about studies."""

from __future__ import annotations

from django.urls import path

from studies import pages

urlpatterns = [
    path("studies/", pages.studies, name="studies"),
    path("studies/<str:study_id>", pages.study, name="study"),
    path("studies/<str:study_id>/report", pages.study_report, name="study-report"),
    path("studies/<str:study_id>/cancel", pages.cancel, name="study-cancel"),
    path("studies/<str:study_id>/resume", pages.resume, name="study-resume"),
    path("studies/<str:study_id>/delete", pages.delete, name="study-delete"),
]
