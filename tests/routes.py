"""Every address of the site, for tests and benches that go through all of them.

`tests/arena/test_queries.py` fails when one is missing here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

READ = {
    "home": ["/"],
    "about": ["/about/"],
    "battle": ["/battle", "/api/battles/{battle}", "/api/battles/{voted}"],
    "battle-detail": ["/battle/{battle}"],
    "battle-forks": ["/battle/{voted}/forks"],
    "shared-battle-page": ["/b/{voted}"],
    "report-battle": ["/b/{voted}/report"],
    "battle-reported": ["/b/{voted}/reported"],
    "data": ["/data/"],
    "data-key": ["/data/key"],
    "profile": ["/profile/"],
    "privacy": ["/privacy/"],
    "own-data": ["/your-data/"],
    "account_login": ["/account/login/"],
    "account_signup": ["/account/signup/"],
    "account_signup_by_passkey": ["/account/signup/passkey/"],
    "account_inactive": ["/account/blocked/"],
    "model-list": ["/models"],
    "submit-policy": ["/submit/"],
    "model-page": ["/models/{model}"],
    "strings": ["/strings/de.{version}.js"],
    "leaderboard": [
        "/leaderboard",
        "/leaderboard?robot_id=widowx&sort=votes&search=a",
        "/leaderboard?robot_id=widowx&scene_id=table",
    ],
    "leaderboard-success-rates": ["/leaderboard/physics"],
    "leaderboard-style": ["/leaderboard/style", "/leaderboard/style?kind=text&group=language%3Dde"],
    "leaderboard-pairs": ["/leaderboard/pairs"],
    "leaderboard-compare": ["/leaderboard/compare", "/leaderboard/compare?a=alpha&b=beta&task=pick&robot_id=widowx"],
    "leaderboard-trust": ["/leaderboard/checks"],
    "leaderboard-method": ["/leaderboard/method"],
    "benchmarks": ["/benchmarks"],
    "leaderboard-counts": ["/leaderboard/counts/{counts}.csv.gz"],
    "schema": ["/api/schema/"],
    "api-docs": ["/api/docs/"],
    "own-sessions": ["/api/sessions/?mine"],
    "sessions-of-user": ["/api/sessions/user/me"],
    "battle-start": ["/api/battles/{battle}/start", "/api/battles/{voted}/start"],
    "session": ["/api/sessions/{session}"],
    "battles-of-session": ["/api/battles/session/{session}"],
    "shared-battle": ["/api/shared/{voted}"],
    "turn": ["/api/turns/{turn}"],
    "turn-queue": ["/api/turns/{waiting}/queue", "/api/turns/{turn}/queue"],
    "episode": ["/api/episodes/{episode}"],
    "episode-view": ["/api/episodes/{episode}/view.bin"],
    "episode-states": ["/api/episodes/{episode}/states.bin"],
    "episode-replay": ["/api/episodes/{episode}/replay.bin"],
    "episode-picture": ["/api/episodes/{episode}/picture.webp"],
    "episode-strip": ["/api/episodes/{episode}/strip.webp"],
    "battle-preview": ["/api/battles/{voted}/preview.jpg"],
    "gallery": [
        "/battles/",
        "/battles/?q=red+cube&task=pick&model=alpha&show=disagreement",
        "/battles/?show=watched&after=3-9",
    ],
    "gallery-api": ["/api/gallery", "/api/gallery?q=red&model=alpha&show=near-miss&after=99"],
    "oembed": ["/api/oembed?url=https://arena.example/b/{voted}"],
    "embedded-battle": ["/embed/battles/{voted}/"],
    "robots": ["/api/robots"],
    "scenes": ["/api/scenes"],
    "scene": ["/api/scenes/widowx/table/"],
    "scene-file": ["{scene_file}"],
    "tasks": ["/api/tasks"],
    "models": ["/api/models"],
    "model": ["/api/models/{model}"],
    "leaderboard-api": ["/api/leaderboard", "/api/leaderboard?robot_id=widowx&scene_id=table"],
    "leaderboard-stats": ["/api/leaderboard/stats"],
    "leaderboard-report": ["/api/leaderboard/report"],
    "leaderboard-compare-api": [
        "/api/leaderboard/compare?a=alpha&b=beta",
        "/api/leaderboard/compare?a=alpha&b=beta&task=pick&robot_id=widowx",
    ],
    "feedback": ["/api/battles/{voted}/feedback"],
    "vote-effect": ["/api/battles/{voted}/effect"],
    "studies": ["/studies/"],
    "worker-status": ["/api/worker/status"],
    "worm-board": ["/wormarena/", "/wormarena/?sort=score&search=a"],
    "worm-model": ["/wormarena/model?name={worm_model}"],
    "worm-pairs": ["/wormarena/pairs"],
    "worm-live": ["/wormarena/live"],
    "worm-games": ["/wormarena/games", "/wormarena/games?model={worm_model}&result=won"],
    "worm-game": ["/wormarena/games/{worm_game}"],
    "worm-models-api": ["/api/wormarena/models?sort=games"],
    "worm-decisions-api": ["/api/wormarena/decisions"],
    "worm-matchups-api": ["/api/wormarena/matchups"],
    "worm-recent-api": ["/api/wormarena/games/recent?limit=20", "/api/wormarena/games/recent?model={worm_model}"],
    "worm-game-api": ["/api/wormarena/games/{worm_game}"],
}
"""Name -> addresses to GET, as a visitor. What stands in braces is a key of the caller's `things`."""

ACT = (
    *("init-session", "next-battle", "battles", "turns", "cancel-turn", "votes", "explorations", "wish"),
    "episode-video",
)
"""Names of what changes something for a visitor: the caller knows in which order."""

APART = {
    "worm-games-api": "takes a file from an operator: tests/wormarena",
    "worker-aggregate": "the hourly task by hand: its cost is that of all votes",
    "health": "asks every part, and its database query is SELECT 1",
    "health-live": "asks nothing",
    "health-ready": "asks every part, as health does",
    "policy-submitted": "one query, by a secret address: tests/remote/test_submissions.py",
    "dump-file": "a file of a folder, without a query: tests/exports/test_dumps.py",
    "metrics": "for a monitoring system, every few seconds, not for visitors",
    "admin-status": "for operators",
    "admin-analytics": "for operators",
    "analytics": "for operators: a few queries over some days",
    "write-comment": "comments are off unless an operator turns them on",
    "report-comment": "comments are off unless an operator turns them on",
    "delete-comment": "comments are off unless an operator turns them on",
    "text": "the battle page of a kind that not every site offers: tests/texts/test_page.py",
    "text-detail": "the same with the id of a battle",
    "text-model-page": "the queries of a policy's page, of which it is a part: tests/texts/test_model_page.py",
    "answer-again": "its queries are those of a turn and two more; only battles of language models have it",
    "like-answer": "one row of one's own; only battles of language models have it",
    "voice": "the battle page of a kind that not every site offers: tests/voice/test_slots_of_a_battle.py",
    "voice-detail": "the same with the id of a battle",
    "calls": "a few rows of one's own battle; only voice battles have them",
    "agent-metrics": "a battle and two rows; only voice battles have them",
    "caller-recording": "a file; only voice battles have one",
    "agent-recording": "a file; only voice battles have one",
    "one-call-battle": "what opening a battle and sending a turn ask, and then it waits",
    "one-call-vote": "its queries are those of a vote",
    "own-data-download": "a file of all that a visitor has done, with some queries per session",
    "own-data-delete": "moves every row of a visitor, once",
    **dict.fromkeys(
        (
            *("account_confirm_login_code", "account_request_login_code", "account_email_verification_sent"),
            *("account_logout", "account_email", "mfa_login_webauthn", "mfa_signup_webauthn", "mfa_index"),
            *("mfa_list_webauthn", "mfa_add_webauthn", "mfa_edit_webauthn", "mfa_remove_webauthn"),
            *("tokens", "revoke-token"),
        ),
        "sends a visitor without an account on to another page: tests/people",
    ),
    **dict.fromkeys(
        (
            *("study", "study-report", "study-cancel", "study-resume", "study-delete"),
            *("studies-api", "study-api", "study-cancel-api", "study-resume-api"),
        ),
        "of an account, or by a secret address: tests/studies",
    ),
}
"""Names that no bound on queries is for, and why."""

TRANSACTION = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "SET ")


def names() -> set[str]:
    """Of every named address of the site, Django's own admin aside."""
    return set(_named(get_resolver().url_patterns))


def _named(patterns: list[Any]) -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver) and pattern.app_name != "admin":
            yield from _named(pattern.url_patterns)
        elif isinstance(pattern, URLPattern) and pattern.name:
            yield pattern.name


def asked(queries: list[dict[str, str]]) -> list[str]:
    """What a database was asked, without the words that begin and end transactions."""
    return [query["sql"] for query in queries if not query["sql"].lstrip().upper().startswith(TRANSACTION)]


def scene_file(client: Client) -> str:
    """The address of one file of the usual scene."""
    place = f"{settings.DEFAULT_ROBOT}/{settings.DEFAULT_SCENE}"
    return str(client.get(f"/api/scenes/{place}/").json()["xml_url"])
