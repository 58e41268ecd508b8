"""The choice of a place on a battle page: links, so that it works with every key and by address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext

from arena.kinds import ANY, Kind, Place


@dataclass(frozen=True)
class Choice:
    """A link of the chooser. `picture`: a static file, or ""."""

    name: str
    address: str
    current: bool
    picture: str = ""


def choices(kind: Kind, here: Place, wanted: Mapping[str, str]) -> dict[str, Any]:
    """For the template: `settings` and `scenes` to choose from, each empty where there is only one, and `any_scene`,
    whether the visitor lets chance choose; `here` in words. `wanted`: the parameters of the page's address."""
    places, titles = kind.places(), kind.titles()
    setting, scene = (ANY if wanted.get(name) == ANY else own for name, own in zip(kind.names, here, strict=True))
    chosen = Place(setting, scene)

    def named(name: str) -> str:
        return gettext("Any") if name == ANY else gettext(titles[name])

    def links(places: Iterable[Place], part: int, chosen: str) -> list[Choice]:
        return [_link(kind, place, named(place[part]), place[part] == chosen) for place in places]

    settings = [Place(each, ANY if scene == ANY else "") for each in places]
    scenes = [Place(chosen.setting, each) for each in places.get(here.setting, ())]
    return {
        "settings": links(_with_any(settings, Place(ANY, chosen.scene)), 0, chosen.setting),
        "scenes": links(_with_any(scenes, Place(chosen.setting, ANY)), 1, chosen.scene),
        "any_scene": ANY in chosen,
        "here": " · ".join(gettext(titles[name]) for name in here if name in titles),
    }


def _with_any(places: list[Place], anywhere: Place) -> list[Place]:
    """No choice where there is only one."""
    return [*places, anywhere] if len(places) > 1 else []


def _link(kind: Kind, place: Place, name: str, current: bool) -> Choice:
    """Without what the kind would choose by itself."""
    by_default = Place(next(iter(kind.places())), "")
    asked = zip(kind.names, place, by_default, strict=True)
    parameters = urlencode({key: value for key, value, usual in asked if value != usual})
    address = f"{reverse(kind.address)}?{parameters}" if parameters else reverse(kind.address)
    return Choice(name, address, current, kind.picture_of(place))
