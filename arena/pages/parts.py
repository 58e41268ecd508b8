"""What other apps add to the pages of battles."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest

from arena.models import Battle

Part = Callable[[HttpRequest, Battle], str]
_below_shared: list[Part] = []


def add_below_shared(part: Part) -> None:
    """Let `part` answer the HTML that stands below each shared battle. Call it from `AppConfig.ready`."""
    if part not in _below_shared:
        _below_shared.append(part)


def below_shared(request: HttpRequest, battle: Battle) -> list[str]:
    return [part(request, battle) for part in _below_shared]
