"""Addresses of the battle pages: one for each kind, and one for the voted battles of all."""

from __future__ import annotations

from django.urls import path

from arena import kinds
from arena.pages.battle import battle, shared_battle

urlpatterns = [path("b/<str:battle_id>", shared_battle, name="shared-battle-page")]
for kind in kinds.every():
    urlpatterns += [
        path(kind.address, battle, {"kind": kind}, name=kind.address),
        path(f"{kind.address}/<str:battle_id>", battle, {"kind": kind}, name=f"{kind.address}-detail"),
    ]
