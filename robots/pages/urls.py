"""The addresses of the pages about robot policies."""

from __future__ import annotations

from django.urls import path

from robots.pages.benchmarks import benchmarks
from robots.pages.forks import battle_forks
from robots.pages.policies import policies, policy
from robots.pages.submit import submit, submitted

urlpatterns = [
    path("benchmarks", benchmarks, name="benchmarks"),
    path("submit/", submit, name="submit-policy"),
    path("submit/<str:token>", submitted, name="policy-submitted"),
    path("battle/<str:battle_id>/forks", battle_forks, name="battle-forks"),
    path("models", policies, name="model-list"),
    path("models/<slug:model_id>", policy, name="model-page"),
]
