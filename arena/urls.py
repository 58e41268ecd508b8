"""Addresses under /api/ of battles of any kind."""

from __future__ import annotations

from arena.api import drawings, feedback, gallery, turns, views
from arena.api.routes import route

urlpatterns = [
    *route("sessions/init", views.InitSession, "init-session"),
    *route("sessions/", views.OwnSessions, "own-sessions"),
    *route("sessions/user/<str:user_id>", views.SessionsOfUser, "sessions-of-user"),
    *route("sessions/<str:session_id>", views.SessionDetail, "session"),
    *route("sessions/<str:session_id>/battles", views.NextBattle, "next-battle"),
    *route("battles", views.Battles, "battles"),
    *route("battles/session/<str:session_id>", views.BattlesOfSession, "battles-of-session"),
    *route("battles/<str:battle_id>", views.BattleDetail, "battle"),
    *route("battles/<str:battle_id>/turns", turns.Turns, "turns"),
    *route("battles/<str:battle_id>/feedback", feedback.FeedbackOnVote, "feedback"),
    *route("shared/<str:battle_id>", views.SharedBattleDetail, "shared-battle"),
    *route("turns/<str:turn_id>", turns.TurnDetail, "turn"),
    *route("turns/<str:turn_id>/queue", turns.TurnQueue, "turn-queue"),
    *route("turns/<str:turn_id>/cancel", turns.CancelTurn, "cancel-turn"),
    *route("episodes/<str:episode_id>", views.EpisodeDetail, "episode"),
    *route("episodes/<str:episode_id>/picture.webp", drawings.Picture, "episode-picture"),
    *route("episodes/<str:episode_id>/strip.webp", drawings.Strip, "episode-strip"),
    *route("episodes/<str:episode_id>/video.mp4", drawings.Video, "episode-video"),
    *route("battles/<str:battle_id>/preview.jpg", drawings.Preview, "battle-preview"),
    *route("gallery", gallery.Gallery, "gallery-api"),
    *route("oembed", gallery.OEmbed, "oembed"),
    *route("votes", views.Votes, "votes"),
]
