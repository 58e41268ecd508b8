"""The builder of scenes: moderators compose one of known things, see its starts, have it checked, and publish it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse

from robots import published_scenes, scene_trials
from robots.builder_admin import LARGEST_SEED, BuilderAdmin
from robots.models import PublishedScene, SceneTrial
from robots.scene_files import with_meshes
from robots.scene_form import COLUMNS, NEW, SceneForm, initial_of
from simulation.scene_plans import library


class TrialForm(forms.Form):
    seed = forms.IntegerField(min_value=0, max_value=LARGEST_SEED, initial=0, label="Start number")


@admin.register(PublishedScene)
class PublishedSceneAdmin(BuilderAdmin):
    called, new, store, templates = "scene", NEW, published_scenes, "admin/robots/publishedscene"
    list_display = ["__str__", "state", "since", "until", "made_by", "made_at"]
    search_fields = ["scene_id", "yaml"]

    def get_urls(self) -> list[URLPattern]:
        manifest, xml = (self.admin_site.admin_view(view) for view in (self.manifest, self.xml))
        return [
            path("trials/<int:key>/manifest.json", manifest, name="robots_publishedscene_manifest"),
            path("trials/<int:key>/<str:name>", xml, name="robots_publishedscene_xml"),
            *super().get_urls(),
        ]

    def fields_of(self, row: Any, said: Any = None) -> SceneForm | None:
        initial = initial_of(row.yaml)
        if said is not None:
            return SceneForm(said)
        return None if initial is None else SceneForm(initial=initial)

    def help_for_editor(self) -> dict[str, Any]:
        return {"columns": COLUMNS.values(), "library": list(library())}

    def trial_form(self, row: Any, said: Any) -> TrialForm:
        return TrialForm(said)

    def ask(self, row: Any, what: str, seed: int = 0) -> SceneTrial:
        return scene_trials.ask(row, what, seed)

    def play(self, request: HttpRequest, row: Any, form: Any) -> None:
        if not form.is_valid():
            self.message_user(request, "Choose a start number", messages.ERROR)
            return
        scene_trials.ask(row, SceneTrial.What.PLAY, form.cleaned_data["seed"])

    def manifest_url(self, trial: Any) -> str:
        return reverse("admin:robots_publishedscene_manifest", args=[trial.pk]) if trial.xml else ""

    def is_checked(self, row: Any) -> bool:
        return published_scenes.good_check(row) is not None

    def manifest(self, request: HttpRequest, key: int) -> JsonResponse:
        """What the viewer loads of a start. It is no public address: a draft is for moderators."""
        trial = self._trial(request, key)
        own = reverse("admin:robots_publishedscene_xml", args=[key, trial.manifest["xml"]])
        return JsonResponse({**with_meshes(trial.manifest), "xml_url": own})

    def xml(self, request: HttpRequest, key: int, name: str) -> HttpResponse:
        trial = self._trial(request, key)
        if name != trial.manifest["xml"]:
            raise Http404
        return HttpResponse(trial.xml, content_type="application/xml")

    def _trial(self, request: HttpRequest, key: int) -> SceneTrial:
        if not self.has_view_permission(request):
            raise PermissionDenied
        trial = get_object_or_404(SceneTrial, pk=key)
        if not trial.xml:
            raise Http404
        return trial
