"""The addresses of the battle pages: one of each kind, and one of the voted battles of all kinds."""

from __future__ import annotations

from django.urls import path

from arena import kinds
from arena.pages.battle import battle, shared_battle
from arena.pages.gallery import embedded_battle, gallery

urlpatterns = [
    path("b/<str:battle_id>", shared_battle, name="shared-battle-page"),
    path("battles/", gallery, name="gallery"),
    path("embed/battles/<str:battle_id>/", embedded_battle, name="embedded-battle"),
]
for kind in kinds.every():
    urlpatterns += [
        path(kind.address, battle, {"kind": kind}, name=kind.address),
        path(f"{kind.address}/<str:battle_id>", battle, {"kind": kind}, name=f"{kind.address}-detail"),
    ]
