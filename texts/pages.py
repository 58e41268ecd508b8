"""The page of one language model: its record, its battles, and what it is."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path

from rankings.pages.record import record_of
from texts.models import LanguageModel


def language_model(request: HttpRequest, model_id: str) -> HttpResponse:
    found = get_object_or_404(LanguageModel, pk=model_id)
    return render(request, "texts/model.html", {"page": "models", "model": found, **record_of(found)})


urlpatterns = [path("text/models/<slug:model_id>", language_model, name="text-model-page")]
