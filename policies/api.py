"""Which policies there are. The same for everybody, at any time: nothing here depends on a battle."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from policies.models import Policy
from policies.serializers import ModelSerializer


class Models(APIView):
    @extend_schema(
        operation_id="list_models",
        responses={200: inline_serializer("ModelList", {"results": ModelSerializer(many=True)})},
    )
    def get(self, request: Request) -> Response:
        return Response({"results": ModelSerializer(Policy.objects.all(), many=True).data})


class ModelDetail(APIView):
    @extend_schema(operation_id="get_model", responses={200: ModelSerializer})
    def get(self, request: Request, model_id: str) -> Response:
        policy = Policy.objects.filter(id=model_id).first()
        if policy is None:
            raise NotFound("There is no model with this id.")
        return Response(ModelSerializer(policy).data)
