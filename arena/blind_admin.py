"""Admin views of battles whose names are hidden. Staff see what visitors see, because a visitor may be one of them.

Names, and all that differs between the sides (status, steps, times, worker, error), are shown once the battle is voted
or spoiled (`arena.models.names_known`). Until then no list may be filtered, searched or ordered by them either, since
the result would reveal them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin import ShowFacets
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from arena.live.release import CANCELLED
from arena.models import Attempt, AttemptStatus, Battle, Contestant, Turn, names_known

if TYPE_CHECKING:
    ModelAdminBase = admin.ModelAdmin[Any]
else:
    ModelAdminBase = admin.ModelAdmin

HIDDEN = "hidden until the vote"


def battle_of(row: Battle | Turn | Attempt) -> Battle:
    if isinstance(row, Battle):
        return row
    return row.battle if isinstance(row, Turn) else row.turn.battle


def unless_hidden(field: str) -> Callable[[Any], Any]:
    """A column with this field, or HIDDEN while names are hidden. It cannot be sorted by."""

    @admin.display(description=field.replace("_", " "))
    def shown(row: Battle | Turn | Attempt) -> Any:
        return getattr(row, field) if battle_of(row).names_known else HIDDEN

    shown.__name__ = f"shown_{field}"
    return shown


@admin.display(description="state")
def state_told(row: Turn | Attempt) -> str:
    """The state of an attempt. While names are hidden, both sides have the turn's state as its visitor knows it.

    A cancelled turn is no failure of anybody.
    """
    if isinstance(row, Attempt) and row.turn.battle.names_known:
        return "cancelled" if _is_cancelled(row) else str(row.get_status_display())
    turn = row.turn if isinstance(row, Attempt) else row
    if turn.settled_at is None or (turn.shown_at is not None and turn.shown_at > timezone.now()):
        return "open"
    failed = [side for side in turn.attempts.all() if side.status == AttemptStatus.FAILED]
    if any(side.termination_reason == CANCELLED for side in failed):
        return "cancelled"
    return "failed" if failed else "completed"


def _is_cancelled(attempt: Attempt) -> bool:
    return attempt.status == AttemptStatus.FAILED and attempt.termination_reason == CANCELLED


class BlindAdmin(ModelAdminBase):
    """`filterable`: the fields by which a list may be filtered, whatever is hidden. `always_shown`: the fields of a
    row's page while names are hidden."""

    show_facets = ShowFacets.NEVER  # they would count rows by hidden values
    filterable: frozenset[str] = frozenset()
    always_shown: Sequence[Any] = ()

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        own = {getattr(each, "parameter_name", None) for each in self.list_filter}
        if lookup in own:
            return True
        return lookup.split("__")[0] in self.filterable and super().lookup_allowed(lookup, value, request)  # type: ignore[arg-type]

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        if isinstance(obj, Battle | Turn | Attempt) and not battle_of(obj).names_known:
            return self.always_shown
        return super().get_fields(request, obj)


class KnownFilter(admin.SimpleListFilter):
    """Filters by something hidden, among battles with known names only. `to_battle`: the lookup of the battle."""

    to_battle = ""

    def wanted(self, value: str) -> Q:
        raise NotImplementedError

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
        value = self.value()
        return None if value is None else queryset.filter(names_known(self.to_battle), self.wanted(value))


class ModelOfBattle(KnownFilter):
    title = "model, of battles without secrets"
    parameter_name = "known_model"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return list(Contestant.objects.values_list("id", "name"))

    def wanted(self, value: str) -> Q:
        return Q(left_model=value) | Q(right_model=value)


class ModelOfRollout(ModelOfBattle):
    to_battle = "turn__battle__"

    def wanted(self, value: str) -> Q:
        return Q(model=value)


class EndOfRollout(KnownFilter):
    title = "end, of battles without secrets"
    parameter_name = "known_end"
    to_battle = "turn__battle__"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        reasons = Attempt.objects.filter(names_known(self.to_battle)).exclude(termination_reason="").order_by()
        return [(reason, reason) for reason in sorted(reasons.values_list("termination_reason", flat=True).distinct())]

    def wanted(self, value: str) -> Q:
        return Q(termination_reason=value)


class TurnFailed(admin.SimpleListFilter):
    """Failed or cancelled turns with both their sides, so that the list does not say which side failed."""

    title = "turn"
    parameter_name = "turn_state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("failed", "failed"), ("cancelled", "cancelled")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
        if self.value() not in ("failed", "cancelled"):
            return None
        shown = Q(shown_at=None) | Q(shown_at__lte=timezone.now())
        failed = Attempt.objects.filter(status=AttemptStatus.FAILED)
        cancelled = failed.filter(termination_reason=CANCELLED)
        sides = cancelled if self.value() == "cancelled" else failed.exclude(termination_reason=CANCELLED)
        turns = Turn.objects.filter(shown, settled_at__isnull=False, turn_id__in=sides.values("turn_id"))
        return queryset.filter(turn_id__in=turns.values("turn_id"))
