"""The addresses under /api/ of language models alone."""

from __future__ import annotations

from arena.api.routes import route
from texts import api

urlpatterns = [*route("battles/<str:battle_id>/again", api.AnswerAgain, "answer-again")]
