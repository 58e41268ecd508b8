"""The errors that clients see, each with a stable code and an HTTP status."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal


class ArenaError(Exception):
    """A refusal. `extra` is sent beside code and detail."""

    status = 400
    code = "error"
    detail = "The request cannot be served."
    retry_after_s: int | None = None

    def __init__(self, detail: str = "", **extra: Any) -> None:
        super().__init__(detail or self.detail)
        self.extra = extra

    def body(self) -> dict[str, Any]:
        return {"code": self.code, "detail": str(self), **self.extra}


class UnknownName(ArenaError):
    status = 422

    def __init__(self, kind: str, known: Iterable[str]) -> None:
        names = sorted(known)
        super().__init__(f"Unknown {kind}. Known: {', '.join(names)}.", known=names)
        self.code = f"unknown_{kind}"


class OtherKind(ArenaError):
    """The object exists, but is of another kind than the call needs."""

    status, code = 422, "other_kind"

    def __init__(self, kind: str, wanted: str) -> None:
        super().__init__(f"This is of the kind {kind}; only {wanted} have that.", kind=kind, wanted=wanted)


class InvalidInstruction(ArenaError):
    status, code = 422, "invalid_instruction"


class InstructionTooLong(InvalidInstruction):
    code = "instruction_too_long"

    def __init__(self, longest: int, length: int, unit: Literal["characters", "words"]) -> None:
        detail = f"An instruction has at most {longest} {unit}, this one {length}."
        super().__init__(detail, longest=longest, unit=unit)


class TurnsPlayed(ArenaError):
    status, code, detail = 409, "turns_played", "This battle has as many turns as it may have. Vote on it."


class InvalidVote(ArenaError):
    status, code = 422, "invalid_vote"


class NotFound(ArenaError):
    status, code, detail = 404, "not_found", "There is nothing here for you."


class BattleHidden(ArenaError):
    status, code, detail = 410, "battle_hidden", "A moderator hid this battle."


class ReasonMissing(ArenaError):
    status, code, detail = 422, "reason_missing", "Say why, in a few words: the audit log keeps it."


class TurnRunning(ArenaError):
    status, code, detail = 409, "turn_running", "Both sides must finish the running turn first."


class TurnSettled(ArenaError):
    status, code, detail = 409, "turn_settled", "Both sides have ended this turn already."


class BattleClosed(ArenaError):
    status, code, detail = 409, "battle_closed", "This battle is over: open the session's next battle."


class SceneWithdrawn(ArenaError):
    """The session's place is not offered any more."""

    status, code = 409, "scene_withdrawn"

    def __init__(self, known: Iterable[str]) -> None:
        names = sorted(known)
        super().__init__(f"This session's scene is no longer offered: open one in {', '.join(names)}.", known=names)


class NoCompletedTurn(ArenaError):
    status, code, detail = 409, "no_completed_turn", "Vote after a turn that both sides completed."


class StartsMissing(ArenaError):
    status, code = 409, "starts_missing"
    detail = "Vote once both sides have completed all starts of this battle: send its instruction again."


class StartsPlayed(ArenaError):
    status, code = 409, "starts_played"
    detail = "All starts of this battle have been played: vote, then open the session's next battle."


class OtherStarts(ArenaError):
    """The first instruction says from how many starts a battle is shown."""

    status, code = 409, "other_starts"

    def __init__(self, starts: int) -> None:
        super().__init__(f'This battle is shown from {starts} starts: send "starts": {starts}.', starts=starts)


class OtherInstruction(ArenaError):
    """Some starts have been played with `instruction`; the vote is about one instruction."""

    status, code = 409, "other_instruction"

    def __init__(self, instruction: str) -> None:
        detail = f"The starts that are missing are played with the instruction of the others: {instruction!r}."
        super().__init__(detail, instruction=instruction)


class AlreadyVoted(ArenaError):
    status, code, detail = 409, "already_voted", "This battle has its vote."


class MixedKinds(ArenaError):
    status, code, detail = 409, "mixed_kinds", "The contestants of this battle are not of its kind: no vote counts."


class NotVoted(ArenaError):
    status, code, detail = 409, "not_voted", "Only a battle that has its vote can be explored."


class NoSuchMoment(ArenaError):
    status, code = 422, "no_such_moment"


class InvalidStarts(ArenaError):
    status, code = 422, "invalid_starts"


class InvalidReasons(ArenaError):
    status, code = 422, "invalid_reasons"


class InvalidWhy(ArenaError):
    status, code = 422, "invalid_why"


class InvalidProgress(ArenaError):
    status, code = 422, "invalid_progress"


class EpisodeExpired(ArenaError):
    status, code = 410, "episode_expired"
    detail = "This recording is no longer kept: its battle ended without a vote, long ago."


class SceneChanged(ArenaError):
    status, code = 410, "scene_changed"
    detail = "This recording is of a scene that has since got other objects: it cannot be shown any more."


class NotDrawnYet(ArenaError):
    """No error: a worker is drawing what was asked for."""

    status, code, detail, retry_after_s = 202, "not_drawn_yet", "A worker is drawing it: ask again in a moment.", 2


class NotAskedFor(ArenaError):
    status, code, detail = 404, "not_asked_for", "Nobody has asked for it yet: POST to this address does."


class DrawingFailed(ArenaError):
    status, code, detail = 503, "drawing_failed", "It could not be drawn. Somebody may try again in an hour."
    retry_after_s = 3600


class NotRetryable(ArenaError):
    status, code = 409, "not_retryable"
    detail = "Only a failed attempt of the last turn of an ongoing battle can be retried."


class NoContestants(ArenaError):
    status, code, detail = 503, "no_contestants", "Fewer than two policies are active: there is nobody to draw."


class NotHosted(ArenaError):
    """About a battle and not a side, because the side would reveal who plays."""

    status, code = 503, "not_hosted"
    detail = "A model of this battle cannot play at present. Open the session's next battle, or send it again later."


class QueueUnavailable(ArenaError):
    status, code, detail = 503, "queue_unavailable", "The queue is down. Nothing was started: send it again later."


class EpisodesUnavailable(ArenaError):
    status, code, detail = 503, "episodes_unavailable", "The episode store is down: try again later."


class QueueFull(ArenaError):
    """The queue is full, or its wait too long. `wait` [s]: the expected wait, None if unknown. `again` [s]: when to
    come back."""

    status, code = 503, "queue_full"

    def __init__(self, waiting: int, wait: int | None, again: int) -> None:
        long = "" if wait is None else f", which take about {wait} s"
        super().__init__(
            f"The queue is full: {waiting} turns are waiting{long}. Nothing was started: send it again in {again} s.",
            waiting=waiting,
            expected_wait_s=wait,
        )
        self.retry_after_s = again


class TooManyTurns(ArenaError):
    """A visitor, an address or a network has as many unsettled turns as it may have."""

    status, code = 429, "too_many_turns"

    def __init__(self, whose: str, bound: int, again: int) -> None:
        super().__init__(f"At most {bound} turns of one {whose} at a time: send it again in {again} s.")
        self.retry_after_s = again


class ChallengeRequired(ArenaError):
    """Many votes came from the caller's network today. The same call with an answer to `challenge` is served."""

    status, code = 428, "challenge_required"
    detail = "Many votes came from your network today: answer the challenge in the header Challenge-Answer."


class DatabaseUnavailable(ArenaError):
    status, code, detail = 503, "database_unavailable", "The database is down or busy: send it again later."


class SceneNotBuilt(ArenaError):
    status, code, detail = 503, "scene_not_built", "The scene's files are missing: run `manage.py build_scenes`."


class CrossSite(ArenaError):
    status, code = 403, "cross_site"
    detail = "This call changes something, and the browser says that it comes from another site."


class TooMany(ArenaError):
    """Over a limit of `arena.visitors.throttles`. `wait` [s]: until there is room again."""

    status, code = 429, "throttled"
    spans = {60: "a minute", 3600: "an hour", 86400: "a day"}

    def __init__(self, action: str, caller: str, count: int, seconds: int, wait: int) -> None:
        super().__init__(f"At most {count} {action} {self.spans[seconds]} from one {caller}: try again in {wait} s.")
        self.retry_after_s = wait


class TooLarge(ArenaError):
    status, code, detail = 413, "too_large", "The body is too large."
