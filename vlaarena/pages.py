"""Addresses of the pages."""

from __future__ import annotations

from django.urls import path

from vlaarena import compare_page, home_page, leaderboard_pages, model_pages, preferences, views

urlpatterns = [
    path("", home_page.home, name="home"),
    path("battle", views.battle, name="battle"),
    path("battle/<str:battle_id>", views.battle, name="battle-detail"),
    path("b/<str:battle_id>", views.shared_battle, name="shared-battle-page"),
    path("models", model_pages.models, name="model-list"),
    path("models/<slug:model_id>", model_pages.model, name="model-page"),
    path("wish", preferences.save, name="wish"),
    path("strings/<str:language>.<str:version>.js", preferences.Strings.as_view(), name="strings"),
    path("leaderboard", leaderboard_pages.leaderboard, name="leaderboard"),
    path("leaderboard/physics", leaderboard_pages.physics, name="leaderboard-physics"),
    path("leaderboard/pairs", leaderboard_pages.pairs, name="leaderboard-pairs"),
    path("leaderboard/compare", compare_page.compare, name="leaderboard-compare"),
    path("leaderboard/checks", leaderboard_pages.trust, name="leaderboard-trust"),
    path("leaderboard/method", leaderboard_pages.method, name="leaderboard-method"),
    path("leaderboard/counts/<slug:input_hash>.csv.gz", leaderboard_pages.counts_file, name="leaderboard-counts"),
]
