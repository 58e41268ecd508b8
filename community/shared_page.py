"""What this app adds below a shared battle: its comments, and a way to report it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.shortcuts import resolve_url
from django.template.loader import render_to_string
from django.utils.http import urlencode

from arena.models import Battle
from community import comments
from community.forms import CommentForm
from community.models import Comment
from community.names import display_name


def below_shared(request: HttpRequest, battle: Battle) -> str:
    context: dict[str, Any] = {"battle_id": battle.battle_id, "open": comments.are_open()}
    if comments.are_open():
        context |= _comments(request, battle)
    return render_to_string("community/below_shared.html", context, request)


def _comments(request: HttpRequest, battle: Battle) -> dict[str, Any]:
    shown = [_shown(each, request) for each in comments.shown_to(request.user, battle.battle_id)]
    login = f"{resolve_url(settings.LOGIN_URL)}?{urlencode({'next': request.path})}"
    return {"comments": shown, "form": CommentForm() if request.user.is_authenticated else None, "login": login}


def _shown(comment: Comment, request: HttpRequest) -> dict[str, Any]:
    return {
        "id": comment.pk,
        "author": display_name(comment.author),
        "text": comment.text,
        "at": comment.created_at,
        "waits": comment.state == Comment.State.PENDING,
        "is_own": comment.author_id == request.user.pk,
    }
