"""What a vote meets when it is cast: the record of its pair, and how often each of the two has been voted on."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypedDict

from django.db.models import Sum
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from arena.errors import NotFound
from arena.models import Vote, row_or_none
from arena.schema import answer, refusals
from rankings.models import CountedVote, VoteCount

OUTCOMES = ("left_better", "right_better", "tie", "both_bad")
NOTHING = dict.fromkeys(OUTCOMES, 0)
MIRRORED = {"left_better": "right_better", "right_better": "left_better", "tie": "tie", "both_bad": "both_bad"}


class PairRecord(TypedDict):
    """Counted votes on the same pair without this one, as seen from this battle's sides."""

    votes: int
    left_better: int
    right_better: int
    tie: int
    both_bad: int


class ModelVotes(TypedDict):
    left: int
    right: int


class VoteEffect(TypedDict):
    pair: PairRecord
    model_votes: ModelVotes


class VoteEffectView(APIView):
    @extend_schema(
        operation_id="get_vote_effect",
        description="What is known about the pair of a voted battle, this vote left out.",
        responses={200: answer(VoteEffect), **refusals(404)},
    )
    def get(self, request: Request, battle_id: str) -> Response:
        vote = row_or_none(Vote.objects.filter(battle__battle_id=battle_id).only("vote", "left_model", "right_model"))
        if vote is None:
            raise NotFound
        return Response(effect_of(vote))


def effect_of(vote: Vote) -> VoteEffect:
    """Three queries, of which two read the counts of both models from an index alone."""
    here, there = vote.left_model_id, vote.right_model_id
    as_left = _sums({here, there}, "left_model_id", "right_model_id")
    as_right = _sums({here, there}, "right_model_id")
    same, mirrored = as_left.get((here, there), NOTHING), as_left.get((there, here), NOTHING)
    pair = {name: same[name] + mirrored[MIRRORED[name]] for name in OUTCOMES}
    counted = CountedVote.objects.filter(vote=vote, counted=True).exists()
    if counted:
        pair[vote.vote] -= 1
    votes = [(models[0], sum(row.values())) for rows in (as_left, as_right) for models, row in rows.items()]
    left, right = (sum(number for model_id, number in votes if model_id == each) for each in (here, there))
    return {
        "pair": PairRecord(votes=sum(pair.values()), **pair),  # type: ignore[typeddict-item]
        "model_votes": {"left": left - int(counted), "right": right - int(counted)},
    }


def _sums(model_ids: Collection[str], *sides: str) -> dict[tuple[str, ...], dict[str, int]]:
    """The models on these sides -> their counted votes by outcome; the first side's is one of `model_ids`."""
    rows = VoteCount.objects.filter(**{f"{sides[0]}__in": model_ids}).values_list(*sides)
    return {
        row[: len(sides)]: dict(zip(OUTCOMES, row[len(sides) :], strict=True))
        for row in rows.annotate(*(Sum(name) for name in OUTCOMES))
    }
