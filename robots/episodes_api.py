"""The HTTP API of the bytes of recorded episodes: what can be seen, and after the vote the exact states."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from arena import kinds
from arena.api.schema import refusals
from arena.api.views import ArenaView
from arena.recordings import Recorded, read_recording
from arena.store import Document
from policies.models import ROBOTS
from robots.recordings import shown_view
from simulation.episode_format import to_float32, to_float64

BYTES = "application/octet-stream"
FOR_EVER = "private, max-age=31536000, immutable"


def _bytes(shape: str, *refused: int) -> dict[Any, OpenApiResponse]:
    return {(200, BYTES): OpenApiResponse(OpenApiTypes.BINARY, shape), **refusals(*refused)}


class EpisodeView(ArenaView):
    @extend_schema(
        operation_id="get_episode_view",
        summary="What can be seen of an episode, as bytes",
        description="What can be seen of the episode, before the vote and after it: int16, little-endian, 25 rows a "
        "second, the start first; times `view.scale` of the scene they are qpos. Both sides of a turn have the same "
        "number of rows. For ever.",
        responses=_bytes("[5 * length + 1, nq], length of the longer side in fifths of a second", 404, 410, 422, 503),
    )
    def get(self, request: Request, episode_id: str) -> HttpResponse:
        found, document = _recording(request, episode_id)
        response = _for_ever(shown_view(document, found.common_length)[0])
        response["Content-Encoding"] = "identity"  # compressed, its size would depend on its content
        return response


class EpisodeStates(ArenaView):
    @extend_schema(
        operation_id="get_episode_states",
        summary="The exact states of an episode, as bytes",
        description="The exact states alone, after the vote: float32, little-endian, rows of time, qpos, qvel; the "
        "start first. For ever.",
        responses=_bytes("[steps + 1, 1 + nq + nv]", 404, 409, 410, 422, 503),
    )
    def get(self, request: Request, episode_id: str) -> HttpResponse:
        _, document = _recording(request, episode_id, exact=True)
        return _for_ever(to_float32(document))


class EpisodeReplay(ArenaView):
    @extend_schema(
        operation_id="get_episode_replay",
        summary="All that physics needs to repeat an episode, as bytes",
        description="All that physics needs to repeat the episode from any record, after the vote: float64, "
        "little-endian, -2 and the length of a row, then rows of time, qpos, qvel, qacc_warmstart, the control memory, "
        "the action that led there (zeros at the start) and tree_asleep; the scene names the sizes of the control "
        "memory and the action. Older files have rows alone, and no tree_asleep. For ever.",
        responses=_bytes(
            "2 numbers, then [steps + 1, 1 + nq + 2 nv + control_size + action_size + ntree]", 404, 409, 410, 422, 503
        ),
    )
    def get(self, request: Request, episode_id: str) -> HttpResponse:
        _, document = _recording(request, episode_id, exact=True)
        return _for_ever(to_float64(document))


def _recording(request: Request, episode_id: str, exact: bool = False) -> tuple[Recorded, Document]:
    found, document = read_recording(request, episode_id, exact)
    kinds.check(found.attempt.turn, ROBOTS)
    return found, document


def _for_ever(content: bytes) -> HttpResponse:
    return HttpResponse(content, content_type=BYTES, headers={"Cache-Control": FOR_EVER})
