"""The calls of WormArena: public and cacheable; operators hand in files."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from typing import Any

from django.http import HttpRequest
from django.utils.decorators import method_decorator
from django.views.decorators.http import condition
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.parsers import BaseParser
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from arena.api.schema import answer, refusals
from arena.errors import ArenaError, NotFound, TooLarge
from arena.visitors.throttles import Limited
from wormarena import selectors
from wormarena.api import shapes
from wormarena.game_file import MOST_BYTES, GameRefused
from wormarena.ingestion import posting
from wormarena.models import LedgerState, Result
from wormarena.selectors import SORTS, GamesQuery

MODEL = OpenApiParameter("model", str, description="Exactly as the files spell it")
FILTERS = [
    OpenApiParameter("limit", int, default=selectors.PAGE, description=f"1 to {selectors.MOST}"),
    MODEL,
    OpenApiParameter("opponent", str, description="Of `model`"),
    OpenApiParameter("result", str, enum=list(Result.values), description="Of `model`"),
    OpenApiParameter("gameType", str),
    OpenApiParameter("after", str, description="`next` of the page before"),
]


class GameInvalid(ArenaError):
    """The file is no game, or another file with its id is known. `field` says where."""

    status, code = 422, "game_refused"


class ReplayGone(ArenaError):
    status, code, detail = 410, "replay_gone", "The file of this game is no longer there."


def _tag(request: HttpRequest, *args: Any, **kwargs: Any) -> str:
    """Changes when games were counted, and differs by address."""
    state = LedgerState.objects.filter(pk=1).values_list("version", flat=True).first()
    where = hashlib.sha256(request.get_full_path().encode()).hexdigest()[:12]
    return f'"{state or 0}-{where}"'


class PublicView(APIView):
    """Equal for everybody, and asked again only when games have come."""

    authentication_classes = ()
    permission_classes = ()

    @method_decorator(condition(etag_func=_tag))
    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().dispatch(request, *args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response


class Models(PublicView):
    @extend_schema(
        operation_id="list_worm_models",
        summary="Models that play Snake",
        description="What each model has won, scored, spent and died of, with its ratings.",
        parameters=[
            OpenApiParameter("sort", str, enum=list(SORTS), default="strength"),
            OpenApiParameter("search", str, description="Part of a name"),
        ],
        responses={200: answer(list[shapes.WormModel]), **refusals(422)},
    )
    def get(self, request: Request) -> Response:
        asked = request.query_params
        rows = selectors.models(asked.get("sort") or "strength", asked.get("search", "").replace("\0", "")[:200])
        return Response([selectors.model_json(row) for row in rows])


class Decisions(PublicView):
    @extend_schema(
        operation_id="list_worm_decisions",
        summary="How models decide",
        description="Length of reasons against score, tokens per move, cost near collisions, and providers' errors.",
        parameters=[MODEL],
        responses={200: answer(list[shapes.WormDecisions])},
    )
    def get(self, request: Request) -> Response:
        rows, model = selectors.models("name"), request.query_params.get("model", "").replace("\0", "")
        rows = rows.filter(model_name=model) if model else rows
        return Response([selectors.decisions_json(row) for row in rows])


class Matchups(PublicView):
    @extend_schema(
        operation_id="list_worm_matchups",
        summary="Head to head",
        description="Games of each model against each other.",
        parameters=[MODEL],
        responses={200: answer(list[shapes.WormMatchup])},
    )
    def get(self, request: Request) -> Response:
        model = request.query_params.get("model", "").replace("\0", "")
        return Response([selectors.matchup_json(row) for row in selectors.matchups(model)])


class RecentGames(PublicView):
    @extend_schema(
        operation_id="list_worm_games",
        summary="Games of Snake, newest first",
        description="With scores and results of both sides.",
        parameters=FILTERS,
        responses={200: answer(shapes.WormGames), **refusals(422)},
    )
    def get(self, request: Request) -> Response:
        found, following = selectors.games(GamesQuery.of(request.query_params))
        return Response({"games": [selectors.listed_json(game) for game in found], "next": following or None})


class GameDetail(PublicView):
    @extend_schema(
        operation_id="get_worm_game",
        summary="A game of Snake",
        description="The whole file, and what is kept of it.",
        responses={200: answer(shapes.WormGame), **refusals(404, 410)},
    )
    def get(self, request: Request, game_id: str) -> Response:
        game = None if "\0" in game_id else selectors.find(game_id)
        if game is None:
            raise NotFound
        replay = selectors.replay_of(game)
        if replay is None:
            raise ReplayGone
        sides = selectors.participants_json(game)
        return Response({"replay": replay, "gameRow": selectors.game_json(game), "participants": sides})


class MayIngest(BasePermission):
    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.has_perm(posting.INGEST))


class GameFileParser(BaseParser):
    """The bytes of a file, also compressed with gzip: bodies are small, files need not be."""

    media_type = "application/json"

    def parse(  # type: ignore[override] # the file as it is, of which posting keeps the bytes
        self, stream: Any, media_type: str | None = None, parser_context: Any = None
    ) -> bytes:
        raw: bytes = stream.read()
        headers = (parser_context or {})["request"].headers
        return _unpacked(raw) if headers.get("Content-Encoding") == "gzip" else raw


def _unpacked(raw: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            found = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise GameInvalid("not gzip, or not all of it", field="") from None
    if len(found) > MOST_BYTES:
        raise TooLarge(f"A file may have at most {MOST_BYTES} bytes.")
    return found


class Games(APIView):
    permission_classes = [MayIngest]
    throttle_classes = [Limited]
    throttle_scope = "games"
    parser_classes = [GameFileParser]

    @extend_schema(
        operation_id="post_worm_game",
        summary="Hand in the file of a game",
        description=(
            "For operators. The body is a file of SnakeBench, version 1; larger ones with `Content-Encoding: gzip`. A "
            "worker takes it in shortly after."
        ),
        request={"application/json": {"type": "object"}},
        responses={202: answer(shapes.WormTaken), **refusals(400, 403, 413, 415, 422, 429)},
    )
    def post(self, request: Request) -> Response:
        body: Any = request.data  # bytes, or {} where there is no body
        try:
            taken = posting.hand_in(body or b"")
        except GameRefused as refusal:
            raise GameInvalid(str(refusal), field=refusal.field) from None
        return Response({"gameId": taken.game_id, "new": taken.new}, status=202)
