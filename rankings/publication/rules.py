"""The rules of the published boards, from the settings. `manage.py rate` follows the same unless told otherwise."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from rankings.fit.bradley_terry import PRIOR
from rankings.fit.offsets import OFFSET_SD
from rankings.fit.ratings import LISTED, Options
from rankings.trust import limits


def options() -> Options:
    return Options.of(settings.RANKING)


def published() -> dict[str, Any]:
    """The rules as a snapshot states them."""
    given = settings.RANKING
    return {
        "prior_games": PRIOR,
        "cap_per_voter_and_day": given["cap"],
        "most_moved_by": {"network": limits.NETWORK, "newcomers": limits.COHORT, "newcomer_days": limits.LATELY},
        "offset_sd": OFFSET_SD,
        "listed_from_votes": LISTED,
        "provisional_until": {name: given[name] for name in ("half_width", "votes", "opponents")},
    }
