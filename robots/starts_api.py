"""The HTTP API of what a battle begins with, before its first instruction."""

from __future__ import annotations

import base64

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from arena import kinds
from arena.api.schema import answer, refusals
from arena.api.views import ArenaView
from arena.errors import NotFound
from arena.models import Battle, row_or_none
from arena.visitors.permissions import check_may_look
from policies.models import ROBOTS
from robots import first_states
from robots.shapes import BattleStart


class Start(ArenaView):
    @extend_schema(
        operation_id="get_battle_start",
        summary="The first state of a battle",
        description="The first state of both sides, as viewers show it: int16, little-endian, one row of nq; times "
        "`view.scale` of the scene it is qpos. It is the same that the first turn begins with. `start` is null until a "
        "worker has made it, a moment after the battle was opened: ask again. `left_out`: the things of the scene that "
        "are not there, of which nothing can be asked.",
        responses={200: answer(BattleStart), **refusals(404, 422)},
    )
    def get(self, request: Request, battle_id: str) -> Response:
        battle = row_or_none(Battle.objects.select_related("session").filter(battle_id=battle_id))
        if battle is None:
            raise NotFound
        check_may_look(request, battle.session)
        kinds.check(battle.session, ROBOTS)
        found = first_states.of(battle)
        told: BattleStart = {
            "battle_id": battle.battle_id,
            "start": base64.b64encode(bytes(found.row)).decode() if found else None,
            "left_out": found.left_out if found else None,
        }
        return Response(told)
