"""The rules of the boards, published with them: apart from the other settings, since `manage.py rate` needs no more."""

from __future__ import annotations

from vlaarena import env

# `cap`: what the votes of one day weigh at most on a board, of a voter and of a network that several voters share.
# A policy is provisional until its interval's half-width, its votes and its opponents have come so far.
RANKING = {
    "cap": int(env.number("ARENA_RANKING_CAP", 15)),
    "half_width": env.number("ARENA_PROVISIONAL_HALF_WIDTH", 60.0),
    "votes": int(env.number("ARENA_PROVISIONAL_VOTES", 30)),
    "opponents": int(env.number("ARENA_PROVISIONAL_OPPONENTS", 3)),
}
