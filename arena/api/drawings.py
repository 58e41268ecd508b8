"""The HTTP API of what workers draw of recorded attempts: after the vote, for all who may see the battle."""

from __future__ import annotations

import hashlib
from typing import Any

from django.http import HttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from arena import kinds
from arena.api.schema import answer, refusals
from arena.api.views import ArenaView
from arena.drawings import asking
from arena.errors import DrawingFailed, NotAskedFor, NotDrawnYet, NotFound, QueueUnavailable
from arena.gallery import browsing
from arena.kinds import Kind
from arena.recordings import find_shown
from arena.shapes import ErrorJson
from arena.visitors.throttles import Limited

KEPT = "private, max-age=300, must-revalidate"
"""A drawing never changes, but a moderator may hide its battle: browsers soon ask again, and nothing is sent twice."""
STAND_IN = "public, max-age=60"
VIDEO = "video.mp4"


def _drawn(media_type: str, shape: str) -> dict[Any, OpenApiResponse]:
    return {
        (200, media_type): OpenApiResponse(OpenApiTypes.BINARY, shape),
        202: answer(ErrorJson, "A worker is drawing it: ask again after `Retry-After` seconds"),
        **refusals(404, 409, 410, 503),
    }


class Picture(ArenaView):
    @extend_schema(
        operation_id="get_episode_picture",
        summary="A picture of an episode",
        description="A still picture of the end of an episode, after the vote. A worker draws it when it is first "
        "asked for: 202 until then.",
        responses=_drawn("image/webp", "WebP, 640 x 480"),
    )
    def get(self, request: Request, episode_id: str) -> HttpResponse:
        return drawing_of(request, episode_id, "picture.webp")


class Strip(ArenaView):
    @extend_schema(
        operation_id="get_episode_strip",
        summary="The key moments of an episode",
        description="Key moments of an episode side by side, after the vote: its start, the grasp or first touch, the "
        "carrying, its end. Drawn as `picture.webp` is.",
        responses=_drawn("image/webp", "WebP, four frames of 256 x 320 in a row, 4 pixels apart"),
    )
    def get(self, request: Request, episode_id: str) -> HttpResponse:
        return drawing_of(request, episode_id, "strip.webp")


class Video(ArenaView):
    throttle_scope = "videos"
    throttle_classes = [Limited]

    def get_throttles(self) -> list[Any]:
        return super().get_throttles() if self.request.method == "POST" else []

    @extend_schema(
        operation_id="get_episode_video",
        summary="The video of an episode",
        description="The film of an episode, after the vote, if somebody has asked for it: 202 while a worker draws "
        "it, 404 `not_asked_for` where nobody did. Films are kept for some weeks.",
        responses=_drawn("video/mp4", "MP4 (H.264), 480 x 360, 25 frames a second"),
    )
    def get(self, request: Request, episode_id: str) -> HttpResponse:
        kind = drawable(request, episode_id, VIDEO)
        if not asking.is_known(episode_id, VIDEO, kind.look):
            raise NotAskedFor
        return _answer(request, episode_id, VIDEO, kind, asking.LAST)

    @extend_schema(
        operation_id="ask_for_episode_video",
        summary="Ask for the video of an episode",
        description="Have a worker draw the film of an episode, after the vote. 202 until it is drawn.",
        request=None,
        responses={**_drawn("video/mp4", "The film, if it is drawn already"), **refusals(403, 429)},
    )
    def post(self, request: Request, episode_id: str) -> HttpResponse:
        return _answer(request, episode_id, VIDEO, drawable(request, episode_id, VIDEO), asking.LAST)


class Preview(ArenaView):
    @extend_schema(
        operation_id="get_battle_preview",
        summary="A preview picture of a voted battle",
        description="A picture of a voted battle for links in messengers and networks: both sides, the instruction, "
        "the names and the vote. Programs that read a link take what they get at once: until a worker has drawn it, "
        "the answer is the site's general picture, for a minute. 404 for a battle that has no vote.",
        responses={
            (200, "image/jpeg"): OpenApiResponse(OpenApiTypes.BINARY, "JPEG, 1200 x 630"),
            **refusals(404, 503),
        },
    )
    def get(self, request: Request, battle_id: str) -> HttpResponse:
        entry = browsing.find(battle_id)
        if entry is None or not (kind := kinds.get(entry.kind)).drawings:
            raise NotFound
        try:
            content = asking.drawing(battle_id, asking.PREVIEW, asking.preview_look(kind, entry))
        except (NotDrawnYet, DrawingFailed, QueueUnavailable):
            stand_in = asking.GENERAL_PREVIEW.read_bytes()
            return HttpResponse(stand_in, content_type=asking.PREVIEW_TYPE, headers={"Cache-Control": STAND_IN})
        return _kept(request, content, asking.PREVIEW_TYPE)


def drawable(request: Request, episode_id: str, name: str) -> Kind:
    """The kind that draws this of an episode. Raises as `find_shown`, and NotFound where there is nothing to draw."""
    found = find_shown(request, episode_id, exact=True)
    kind = kinds.of(found.attempt.turn)
    if name not in kind.drawings or not found.may_be_shown or found.attempt.turn.battle.spoiled:
        raise NotFound
    return kind


def drawing_of(request: Request, episode_id: str, name: str) -> HttpResponse:
    """Raises as `drawable` and `asking.drawing`."""
    return _answer(request, episode_id, name, drawable(request, episode_id, name), asking.SOON)


def _answer(request: Request, episode_id: str, name: str, kind: Kind, priority: int) -> HttpResponse:
    return _kept(request, asking.drawing(episode_id, name, kind.look, priority), kind.drawings[name])


def _kept(request: Request, content: bytes, media_type: str) -> HttpResponse:
    """The drawing, or 304 if the browser still has it."""
    etag = quote_etag(hashlib.sha256(content).hexdigest()[:32])
    headers = {"Cache-Control": KEPT, "ETag": etag}
    response = HttpResponse(content, content_type=media_type, headers=headers)
    return get_conditional_response(request._request, etag=etag, response=response) or response
