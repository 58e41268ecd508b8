"""The addresses under /api/ of language models alone."""

from __future__ import annotations

from arena.api.routes import route
from texts import aliases, api

urlpatterns = [
    *route("battles/<str:battle_id>/again", api.AnswerAgain, "answer-again"),
    *route("episodes/<str:episode_id>/like", api.LikeAnswer, "like-answer"),
    *route("arena/battle", aliases.OneCallBattle, "one-call-battle"),
    *route("arena/vote", aliases.OneCallVote, "one-call-vote"),
]
