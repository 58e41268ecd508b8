"""Who can play here: the reference players, and the language models that `arena.chat` offers."""

from __future__ import annotations

from arena import chat
from arena.errors import UnknownName
from wormarena.engine.game import SLOTS, Board
from wormarena.engine.language_player import LanguagePlayer
from wormarena.engine.players import REFERENCE_PLAYERS, Player


def known() -> dict[str, str]:
    """What commands call each player -> what statistics call it."""
    references = {name: make(0).name for name, make in REFERENCE_PLAYERS.items()}
    return {**{model.id: model.name for model in chat.every().values()}, **references}


def seated(names: tuple[str, str], board: Board, seed: int) -> dict[str, Player]:
    """Slot -> a new player. Raises UnknownName."""
    models = chat.every() if any(name not in REFERENCE_PLAYERS for name in names) else {}
    if any(name not in REFERENCE_PLAYERS and name not in models for name in names):
        raise UnknownName("player", sorted({*REFERENCE_PLAYERS, *models}))

    def player(name: str, number: int) -> Player:
        if name in REFERENCE_PLAYERS:
            return REFERENCE_PLAYERS[name](seed + number)
        return LanguagePlayer(models[name], board)

    return {slot: player(name, number) for number, (slot, name) in enumerate(zip(SLOTS, names, strict=True))}
