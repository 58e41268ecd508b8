"""Addresses of the pages."""

from __future__ import annotations

from django.urls import path

from vlaarena import views, visitor_wishes

urlpatterns = [
    path("", views.home, name="home"),
    path("battle", views.battle, name="battle"),
    path("battle/<str:battle_id>", views.battle, name="battle-detail"),
    path("wish", visitor_wishes.wish, name="wish"),
    path("strings/<str:language>.<str:version>.js", visitor_wishes.Strings.as_view(), name="strings"),
    path("leaderboard", views.leaderboard, name="leaderboard"),
]
