"""Addresses under /api/, each with and without a closing slash."""

from __future__ import annotations

from django.urls import path

from policies import api

urlpatterns = [
    path("models", api.Models.as_view(), name="models"),
    path("models/", api.Models.as_view(schema=None)),
    path("models/<slug:model_id>", api.ModelDetail.as_view(), name="model"),
    path("models/<slug:model_id>/", api.ModelDetail.as_view(schema=None)),
]
