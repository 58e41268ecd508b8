"""The addresses of reports and comments."""

from __future__ import annotations

from django.urls import path

from community import pages

urlpatterns = [
    path("b/<str:battle_id>/report", pages.report_battle, name="report-battle"),
    path("b/<str:battle_id>/reported", pages.reported, name="battle-reported"),
    path("b/<str:battle_id>/comments", pages.write_comment, name="write-comment"),
    path("b/<str:battle_id>/comments/<int:comment_id>/report", pages.report_comment, name="report-comment"),
    path("comments/<int:comment_id>/delete", pages.delete_comment, name="delete-comment"),
]
