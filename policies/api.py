"""The list of policies. It is the same for every visitor: nothing here depends on a battle."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import CharField
from rest_framework.views import APIView

from arena.models import Hosting
from policies.models import Policy
from policies.serializers import ModelSerializer

NO_MODEL = inline_serializer("NoModel", {"code": CharField(), "detail": CharField()})


class Models(APIView):
    @extend_schema(
        operation_id="list_models",
        summary="All models",
        responses={200: inline_serializer("ModelList", {"results": ModelSerializer(many=True)})},
    )
    def get(self, request: Request) -> Response:
        return Response({"results": ModelSerializer(Policy.objects.all(), many=True, context=_hosts()).data})


class ModelDetail(APIView):
    @extend_schema(operation_id="get_model", summary="One model", responses={200: ModelSerializer, 404: NO_MODEL})
    def get(self, request: Request, model_id: str) -> Response:
        policy = Policy.objects.filter(id=model_id).first()
        if policy is None:
            raise NotFound("There is no model with this id.")
        return Response(ModelSerializer(policy, context=_hosts()).data)


def _hosts() -> dict[str, set[str] | None]:
    able = set(Hosting.objects.able().values_list("contestant_id", flat=True))
    return {"able": able if able or Hosting.objects.live().exists() else None}
