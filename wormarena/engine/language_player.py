"""A language model as a player: it is told the position, and the last direction in its answer is its move."""

from __future__ import annotations

from arena.chat import ChatFailed, ChatModel
from wormarena.engine.game import Board
from wormarena.engine.players import Choice, ProviderFailed
from wormarena.engine.prompt import Last, direction_in, prompt_of
from wormarena.engine.rules import STEPS, Cell, Position
from wormarena.game_file import LONGEST_NAME, LONGEST_WORD


class LanguagePlayer:
    """Plays one game, in one slot."""

    def __init__(self, model: ChatModel, board: Board) -> None:
        self.name, self.model_id = model.name[:LONGEST_NAME], model.id[:LONGEST_WORD]
        self._model, self._board = model, board
        self._before: tuple[Cell, str] | None = None

    def choose(self, position: Position, slot: str, number: int) -> Choice:
        head = position.snakes[slot][0]
        prompt = prompt_of(position, slot, number, self._board, self._last(head))
        self._before = (head, "")  # of an answer that fails nothing is remembered but the move
        try:
            reply = self._model.ask(prompt, self._board.move_s)
        except ChatFailed as failure:
            raise ProviderFailed(str(failure)) from None
        self._before = (head, reply.text)
        return Choice(direction_in(reply.text), reply.text, reply.prompt_tokens, reply.answer_tokens, reply.cost)

    def _last(self, head: Cell) -> Last | None:
        """The move is read off the board: it may have been drawn."""
        if self._before is None:
            return None
        (x, y), rationale = self._before
        made = next((move for move, step in STEPS.items() if (x + step[0], y + step[1]) == head), "none")
        return Last(made, rationale)
