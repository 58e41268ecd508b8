"""The HTTP API of the gallery of voted battles, and the description of an embedded one for other sites."""

from __future__ import annotations

from django.urls import Resolver404, resolve
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from arena.api.schema import answer, refusals
from arena.api.views import ArenaView
from arena.errors import NotFound
from arena.gallery import browsing, sharing
from arena.gallery.browsing import INTERESTS, GalleryQuery
from arena.shapes import GalleryPage, OEmbedJson

PARAMETERS = [
    OpenApiParameter("q", str, description="Words of the instruction"),
    OpenApiParameter("task", str, description="Of `GET tasks`"),
    OpenApiParameter("model", str, description="Of `GET models`; on either side"),
    OpenApiParameter("show", str, enum=["", *INTERESTS], description="Only these; all if empty"),
    OpenApiParameter("after", str, description="`next` of the page before"),
]


class Gallery(ArenaView):
    @extend_schema(
        operation_id="list_gallery",
        summary="Voted battles",
        parameters=PARAMETERS,
        description="Voted battles, newest first (`show=watched`: most watched first), 24 a page.",
        responses={200: answer(GalleryPage), **refusals(422)},
    )
    def get(self, request: Request) -> Response:
        found = browsing.page(GalleryQuery.of(request.query_params))
        rows = [browsing.entry_json(entry) for entry in found.entries]
        return Response({"results": rows, "next": found.following or None})


class OEmbed(ArenaView):
    @extend_schema(
        operation_id="oembed",
        summary="How to embed a voted battle",
        parameters=[OpenApiParameter("url", str, required=True, description="The address of a shared battle")],
        description="What another site needs to embed a shared battle (oembed.com).",
        responses={200: answer(OEmbedJson), **refusals(404)},
    )
    def get(self, request: Request) -> Response:
        try:
            found = resolve(sharing.path_of(request.query_params.get("url", "")))
        except Resolver404:
            raise NotFound from None
        entry = browsing.find(found.kwargs.get("battle_id", "")) if found.url_name == "shared-battle-page" else None
        if entry is None:
            raise NotFound
        return Response(sharing.oembed(request._request, entry))
