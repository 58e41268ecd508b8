"""The HTTP API of studies: for accounts, by their login or a token. Whoever knows a study's id may read it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from arena.api.schema import BODY_REFUSED, answer, body, refusals
from arena.api.views import ArenaView
from arena.errors import ArenaError, NotFound
from arena.models import row_or_none
from arena.visitors.throttles import Limited
from people.accounts import acting_account
from people.models import Account
from robots import published_tasks
from robots.seeds import HELD_OUT_SEEDS
from studies import asking
from studies.asking import Wanted
from studies.models import Study
from studies.shapes import StudyJson, StudyList, study_json


class SignInFirst(ArenaError):
    status, code = 401, "sign_in_first"
    detail = "Studies belong to an account: sign in, or send a token with the scope studies."


class StudySerializer(serializers.Serializer[Any]):
    a = serializers.CharField(max_length=255)
    b = serializers.CharField(max_length=255)
    robot_id = serializers.CharField(max_length=50, default=settings.DEFAULT_ROBOT)
    scene_id = serializers.CharField(max_length=50, default=settings.DEFAULT_SCENE)
    tasks = serializers.ListField(child=serializers.CharField(max_length=60), min_length=1, max_length=100)
    seeds = serializers.IntegerField(min_value=1, max_value=settings.STUDIES["pairs"])
    first_seed = serializers.IntegerField(default=0, min_value=0, max_value=HELD_OUT_SEEDS - 1)
    margin = serializers.FloatField(default=0.0, min_value=0.0, max_value=0.99)
    play_all = serializers.BooleanField(default=False)


class StudyView(ArenaView):
    """Reading has no limit."""

    throttle_scope = "studies"
    throttle_classes = [Limited]

    def get_throttles(self) -> list[Any]:
        return [] if self.request.method == "GET" else super().get_throttles()


class Studies(StudyView):
    @extend_schema(
        operation_id="list_studies",
        summary="Own studies",
        description="Of the account that is signed in, or whose token is sent. Newest first.",
        responses={200: answer(StudyList), **refusals(401)},
    )
    def get(self, request: Request) -> Response:
        rows = Study.objects.filter(owner=_account(request).user)
        return Response({"results": [study_json(study) for study in rows]})

    @extend_schema(
        operation_id="ask_for_study",
        summary="Ask for a study",
        description="Let two policies play the same tasks from the same first states, behind all that visitors play. "
        "`seeds`: pairs per task, from `first_seed` on. It ends when it is settled which of them succeeds more often, "
        "or that they differ by no more than `margin`; with `play_all` only after all pairs. It counts for no ranking. "
        "A token needs the scope `studies`.",
        request=body(
            a={"type": "string"},
            b={"type": "string"},
            robot_id={"type": "string", "default": settings.DEFAULT_ROBOT},
            scene_id={"type": "string", "default": settings.DEFAULT_SCENE},
            tasks={"type": "array", "items": {"type": "string"}, "minItems": 1},
            seeds={"type": "integer", "minimum": 1, "maximum": settings.STUDIES["pairs"]},
            first_seed={"type": "integer", "minimum": 0, "maximum": HELD_OUT_SEEDS - 1, "default": 0},
            margin={"type": "number", "minimum": 0, "maximum": 0.99, "default": 0},
            play_all={"type": "boolean", "default": False},
        ),
        responses={201: answer(StudyJson), **refusals(*BODY_REFUSED, 401, 409, 422, 429)},
    )
    def post(self, request: Request) -> Response:
        account = _account(request)
        wanted = StudySerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        fields = dict(wanted.validated_data)
        published_tasks.refresh()
        study = asking.ask(account.user, Wanted(a_id=fields.pop("a"), b_id=fields.pop("b"), **fields))
        return Response(study_json(study), status=201)


class OneStudy(StudyView):
    @extend_schema(
        operation_id="get_study",
        summary="A study",
        description="For whoever knows its id, which cannot be guessed.",
        responses={200: answer(StudyJson), **refusals(404)},
    )
    def get(self, request: Request, study_id: str) -> Response:
        study = row_or_none(Study.objects.filter(study_id=study_id))
        if study is None:
            raise NotFound
        return Response(study_json(study))

    @extend_schema(
        operation_id="delete_study",
        summary="Delete an own study",
        description="With its report. If it is played, it stops.",
        request=None,
        responses={204: None, **refusals(401, 403, 404, 429)},
    )
    def delete(self, request: Request, study_id: str) -> Response:
        asking.delete(own_study(_account(request), study_id))
        return Response(status=204)


class CancelStudy(StudyView):
    @extend_schema(
        operation_id="cancel_study",
        summary="Cancel an own study",
        description="What was played is kept, and can be taken up again.",
        request=None,
        responses={200: answer(StudyJson), **refusals(401, 403, 404, 409, 429)},
    )
    def post(self, request: Request, study_id: str) -> Response:
        study = own_study(_account(request), study_id)
        asking.cancel(study)
        study.refresh_from_db()
        return Response(study_json(study))


class ResumeStudy(StudyView):
    @extend_schema(
        operation_id="resume_study",
        summary="Go on with a cancelled or failed study",
        description="Pairs in which a policy failed are played anew.",
        request=None,
        responses={200: answer(StudyJson), **refusals(401, 403, 404, 409, 429)},
    )
    def post(self, request: Request, study_id: str) -> Response:
        study = own_study(_account(request), study_id)
        asking.resume(study)
        study.refresh_from_db()
        return Response(study_json(study))


def own_study(account: Account | None, study_id: str) -> Study:
    """Raises NotFound for that of another account."""
    own = Study.objects.select_related("owner").filter(owner=account.user, study_id=study_id) if account else None
    study = row_or_none(own) if own is not None else None
    if study is None:
        raise NotFound
    return study


def _account(request: Request) -> Account:
    account = acting_account(request._request)
    if account is None:
        raise SignInFirst
    return account
