"""The public calls: names, filters, pages, and answers that are asked again only when games have come."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from tests.people import logged_in, moderator, operator
from tests.wormarena.files import changed, game, put
from wormarena.ingestion import watching
from wormarena.ingestion.ledger import ingest
from wormarena.models import Game

pytestmark = pytest.mark.django_db
ROOT = "/api/wormarena"


def asked(client: Client, address: str) -> Any:
    response = client.get(f"{ROOT}/{address}")
    assert response.status_code == 200, response.content
    return response.json()


def ids(answer: Any) -> list[str]:
    return [each["gameId"] for each in answer["games"]]


def test_models_tell_what_the_requirements_name(client: Client, games: Path) -> None:
    found = {row["modelName"]: row for row in asked(client, "models")}
    assert set(found) == {"alpha", "beta", "gamma/x y:free"}
    alpha = found["alpha"]
    wanted = {"gamesPlayed": 6, "wins": 3, "losses": 2, "ties": 1, "winRate": 0.5, "avgScore": 0.0, "totalCost": 1.5,
              "avgCostPerGame": 0.25, "avgCostPerPoint": 1.5, "totalInputTokens": 600, "totalOutputTokens": 300,
              "deathWall": 3, "deathHeadCollision": 0, "deathBodyCollision": 0, "deathOther": 0}  # fmt: skip
    assert {name: alpha[name] for name in wanted} == wanted
    assert alpha["ratings"]["display"] == pytest.approx(50 * alpha["ratings"]["exposed"])


def test_models_are_sorted_and_searched(client: Client, games: Path) -> None:
    assert [row["modelName"] for row in asked(client, "models?sort=name")] == ["alpha", "beta", "gamma/x y:free"]
    assert [row["modelName"] for row in asked(client, "models?search=GAMMA")] == ["gamma/x y:free"]
    refused = client.get(f"{ROOT}/models?sort=luck")
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_sort")


def test_recent_games_come_newest_first_with_scores_and_results(client: Client, games: Path) -> None:
    answer = asked(client, "games/recent")
    assert ids(answer) == ["g-5", "g-4", "g-3", "g-2", "g-1"]
    sides = answer["games"][-1]["participants"]
    assert [(side["modelName"], side["result"], side["deathReason"]) for side in sides] == [
        ("alpha", "won", None),
        ("beta", "lost", "wall"),
    ]


def test_recent_games_come_in_pages(client: Client, games: Path) -> None:
    for chosen in ("", "&model=alpha"):
        seen, after = list[str](), ""
        while True:
            answer = asked(client, f"games/recent?limit=2{chosen}{after and f'&after={after}'}")
            seen += ids(answer)
            if answer["next"] is None:
                break
            after = answer["next"].replace("+", "%2B")
        assert seen == ["g-5", "g-4", "g-3", "g-2", "g-1"]


@pytest.mark.parametrize(
    ("asked_for", "expected"),
    [
        ("model=beta", ["g-3", "g-2", "g-1"]),
        ("model=alpha&opponent=gamma/x y:free", ["g-4"]),
        ("model=alpha&result=tied", ["g-2"]),
        ("gameType=arc-explainer", ["g-4"]),
        ("model=nobody", []),
    ],
)
def test_recent_games_are_filtered(client: Client, games: Path, asked_for: str, expected: list[str]) -> None:
    assert ids(asked(client, f"games/recent?{asked_for}")) == expected


@pytest.mark.parametrize("bad", ["limit=0", "limit=many", "limit=101", "result=drawn&model=a", "after=x", "result=won"])
def test_a_question_that_makes_no_sense_is_refused(client: Client, games: Path, bad: str) -> None:
    assert client.get(f"{ROOT}/games/recent?{bad}").status_code == 422


def test_a_game_tells_its_file_its_row_and_its_sides(client: Client, games: Path) -> None:
    answer = asked(client, "games/g-1")
    assert answer["replay"] == json.loads((games / "snake_game_g-1.json").read_text())
    assert answer["gameRow"]["startedAt"] == "2026-01-01T00:00:00+00:00"
    assert [side["playerSlot"] for side in answer["participants"]] == [0, 1]
    assert client.get(f"{ROOT}/games/none").status_code == 404


def test_a_file_that_is_gone_is_said_to_be_gone(client: Client, games: Path) -> None:
    (games / "snake_game_g-1.json").unlink()
    assert client.get(f"{ROOT}/games/g-1").status_code == 410


def test_decisions_and_matchups_are_told(client: Client, games: Path) -> None:
    (alpha,) = asked(client, "decisions?model=alpha")
    assert (alpha["moves"], alpha["reasoningCharsPerMove"], alpha["outputTokensPerMove"]) == (12, 10.0, 5.0)
    assert alpha["providerErrorShare"] == pytest.approx(3 / 12)
    (row,) = asked(client, "matchups?model=beta")
    assert (row["opponentName"], row["games"], row["wins"], row["losses"], row["ties"]) == ("alpha", 3, 0, 2, 1)


def test_an_answer_is_sent_again_only_when_games_have_come(client: Client, games: Path) -> None:
    first = client.get(f"{ROOT}/models")
    again = client.get(f"{ROOT}/models", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    ingest(put(games, game("g-9")))
    assert client.get(f"{ROOT}/models", headers={"If-None-Match": first["ETag"]}).status_code == 200


def test_an_address_has_no_other_address_s_tag(client: Client, games: Path) -> None:
    assert client.get(f"{ROOT}/models")["ETag"] != client.get(f"{ROOT}/models?sort=name")["ETag"]


@pytest.fixture
def posted(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tasks that were sent."""
    settings.DATA_DIR, settings.WORMARENA_FOLDER = tmp_path / "data", tmp_path / "watched"
    sent: list[str] = []
    monkeypatch.setattr("wormarena.ingestion.posting.current_app.send_task", lambda name, **more: sent.append(name))
    monkeypatch.setattr(watching, "WATCHES", {})
    return sent


def send(client: Client, raw: bytes, **headers: str) -> Any:
    return client.post(f"{ROOT}/games", raw, content_type="application/json", headers=headers)


def test_an_operator_hands_a_file_in_and_a_worker_takes_it(posted: list[str]) -> None:
    client, raw = logged_in(operator()), json.dumps(game()).encode()
    assert send(client, raw).json() == {"gameId": "g-1", "new": True}
    assert posted == ["wormarena.look"]
    watching.look_everywhere()
    assert Game.objects.get().pk == "g-1"
    assert send(client, raw).json() == {"gameId": "g-1", "new": False}


def test_a_file_may_come_compressed(posted: list[str]) -> None:
    client, packed = logged_in(operator()), gzip.compress(json.dumps(game()).encode())
    answer = send(client, packed, **{"Content-Encoding": "gzip"})
    assert answer.status_code == 202
    assert send(client, packed[:-9], **{"Content-Encoding": "gzip"}).status_code == 422


def test_what_is_no_game_or_another_one_is_refused_with_its_field(posted: list[str]) -> None:
    client = logged_in(operator())
    bad = send(client, json.dumps(changed(game(), "players.0.result", "drawn")).encode())
    assert (bad.status_code, bad.json()["code"], bad.json()["field"]) == (422, "game_refused", "players.0.result")
    send(client, json.dumps(game()).encode())
    other = send(client, json.dumps(changed(game(), "players.0.final_score", 3)).encode())
    assert (other.status_code, other.json()["field"]) == (422, "game.id")


def test_only_operators_hand_files_in(client: Client, posted: list[str]) -> None:
    for somebody in (client, logged_in(moderator())):
        assert send(somebody, json.dumps(game()).encode()).status_code == 403
    assert posted == []
