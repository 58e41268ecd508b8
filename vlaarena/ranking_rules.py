"""The rules of the boards, published with them. A separate module, since `manage.py rate` needs no other settings."""

from __future__ import annotations

from vlaarena import env

# `cap`: the largest weight on a board of one day's votes of one voter, or of one network that several voters share.
# A policy is provisional until the half-width of its interval, its votes and its opponents meet these limits.
RANKING = {
    "cap": int(env.number("ARENA_RANKING_CAP", 15)),
    "half_width": env.number("ARENA_PROVISIONAL_HALF_WIDTH", 60.0),
    "votes": int(env.number("ARENA_PROVISIONAL_VOTES", 30)),
    "opponents": int(env.number("ARENA_PROVISIONAL_OPPONENTS", 3)),
}
