"""Admin lists that handle hand-written addresses and selections.

Django answers some of them with a 500: an impossible year, a search too long for the database, a selected row with an
invalid key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db import DataError
from django.db.models import Field, QuerySet
from django.http import HttpRequest, HttpResponse

if TYPE_CHECKING:
    ModelAdminBase = admin.ModelAdmin[Any]
else:
    ModelAdminBase = admin.ModelAdmin

MOST_WORDS = 20
"""In a search. SQLite accepts a thousand conditions, and each word adds one per column."""
LONGEST_SEARCH = 500
PATTERNS = {"regex", "iregex"}
"""Lookups that no link uses, and whose patterns may be invalid or never finish."""


class CarefulAdmin(ModelAdminBase):
    """Mixin that `ArenaAdminSite.register` puts before the class that an app registers."""

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        if self._points_back(lookup):
            return False
        return not PATTERNS & set(lookup.split("__")) and super().lookup_allowed(lookup, value, request)  # type: ignore[arg-type]

    def _points_back(self, lookup: str) -> bool:
        """Whether the lookup follows a reverse relation. No list links to one; `?battles_left=7` reveals a player."""
        try:
            field = self.opts.get_field(lookup.split("__")[0])
        except FieldDoesNotExist:
            return False
        return bool(field.auto_created and field.is_relation and not field.concrete)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """An impossible lookup shows the whole list, as Django does for those that it recognises itself."""
        try:
            return super().get_changelist_instance(request)
        except (ValueError, OverflowError, DataError) as error:
            raise IncorrectLookupParameters(error) from error

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if len(search_term) > LONGEST_SEARCH or len(search_term.split()) > MOST_WORDS:
            warning = f"A search has at most {MOST_WORDS} words and {LONGEST_SEARCH} characters."
            self.message_user(request, warning, messages.WARNING)
            return queryset.none(), False
        return super().get_search_results(request, queryset, search_term)

    def response_action(self, request: HttpRequest, queryset: QuerySet[Any], *more: Any) -> HttpResponse | None:
        wrong = [key for key in request.POST.getlist(ACTION_CHECKBOX_NAME) if not self._may_be_a_key(key)]
        if wrong:
            refusal = f"{wrong[0][:50]!r} is not a row of this list; nothing was changed."
            self.message_user(request, refusal, messages.ERROR)
            return None
        return super().response_action(request, queryset, *more)

    def _may_be_a_key(self, text: str) -> bool:
        field: Field[Any, Any] = self.opts.pk
        while field.remote_field:
            field = field.target_field  # type: ignore[attr-defined]
        try:
            field.run_validators(field.to_python(text))
        except ValidationError:
            return False
        return "\0" not in text
