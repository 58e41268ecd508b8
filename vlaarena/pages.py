"""Addresses of the pages."""

from __future__ import annotations

from django.urls import path

from vlaarena import views

urlpatterns = [
    path("", views.home, name="home"),
    path("battle", views.battle, name="battle"),
    path("battle/<str:battle_id>", views.battle, name="battle-detail"),
    path("leaderboard", views.leaderboard, name="leaderboard"),
]
