"""What visitors type is shown as they typed it and is nothing but text, wherever it turns up."""

from __future__ import annotations

import csv
import gzip
import json
import logging
import re
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import call_command

from arena.models import Turn
from policies.models import Policy
from rankings.models import Snapshot
from rankings.publication import aggregation
from tests.arena.conftest import Visitor, play
from tests.arena.sockets import Socket
from tests.fakes import FakeRuntime
from tests.people import logged_in
from tests.stack import BASE_DIR
from vlaarena.monitoring.logs import formatter

TAG = "<script>alert(1)</script>"
NASTY = [
    TAG,
    '"><img src=x onerror=alert(1)>',
    "</title></script></textarea><svg onload=alert(1)>",
    "{{ settings.SECRET_KEY }} {% debug %} ${7*7} #{7*7}",
    '=HYPERLINK("https://elsewhere.example","cube")',
    "+1+cmd|' /C calc'!A0",
    "-2+3 move back",
    "@SUM(1+1)*cmd|calc",
    "'; DROP TABLE votes; --",
    "%s %n %(message)s %00 ../../etc/passwd",
    'javascript:alert(1) data:text/html,<b>"</b>',
    '", "admin": true, "x": "',
    "<!--#exec cmd='id'--> <![CDATA[ ]]> &lt;b&gt; &amp;",
]
REFUSED = [
    "red\ncube",
    "red\rcube\n2026-11-21 ERROR forged",
    "\x1b[31mred\x1b[0m",
    "a\u202eb",
    "a\x00b",
    "a\u2028b",
    "\ud800",
]


@pytest.fixture
def played(visitor: Visitor, runtime: FakeRuntime) -> list[str]:
    """The ids of voted battles, one for each nasty instruction."""
    battles = []
    for text in NASTY:
        battle_id = visitor.open()
        play(visitor.send(battle_id, text))
        assert visitor.post("votes", {"battle_id": battle_id, "vote": "left_better"}).status_code == 201
        battles.append(battle_id)
    return battles


def check_html(page: str) -> None:
    for text in NASTY:
        assert "<" not in text or text not in page
    for harm in (TAG, "onerror=alert(1)>", "<svg onload", "<img src=x"):
        assert harm not in page.replace("&quot;", '"')


@pytest.mark.parametrize("text", REFUSED)
def test_what_could_start_a_line_or_steer_a_terminal_is_no_instruction(visitor: Visitor, text: str) -> None:
    battle_id = visitor.open()
    body = json.dumps({"instruction": text})
    answer = visitor.client.post(f"/api/battles/{battle_id}/turns", body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_instruction")
    assert not Turn.objects.exists()


def test_the_api_gives_every_instruction_back_as_json_and_as_it_was_typed(visitor: Visitor, played: list[str]) -> None:
    for battle_id, text in zip(played, NASTY, strict=True):
        for address in (f"battles/{battle_id}", f"shared/{battle_id}", "sessions/?mine"):
            answer = visitor.get(address)
            assert answer["Content-Type"] == "application/json"
            assert answer["X-Content-Type-Options"] == "nosniff"
        assert visitor.battle(battle_id)["turns"][0]["instruction"] == text


def test_pages_that_show_no_battle_carry_none_of_it(visitor: Visitor, played: list[str]) -> None:
    for battle_id, text in zip(played, NASTY, strict=True):
        for address in ("/battle", f"/battle/{battle_id}", "/leaderboard", "/models"):
            answer = visitor.client.get(address)
            assert answer.status_code == 200
            page = answer.content.decode()
            assert text not in page
            assert escape(text) not in page


def test_pages_that_show_a_voted_battle_carry_it_as_escaped_text(visitor: Visitor, played: list[str]) -> None:
    for battle_id, text in zip(played, NASTY, strict=True):
        for address in (f"/b/{battle_id}", f"/embed/battles/{battle_id}/", "/battles/", "/"):
            answer = visitor.client.get(address)
            assert answer.status_code == 200
            page = answer.content.decode()
            assert (text in page) <= (escape(text) == text)
        assert escape(text) in visitor.client.get(f"/b/{battle_id}").content.decode()


def test_scripts_write_text_into_pages_and_never_html() -> None:
    """Only answers of language models become HTML, which their renderer writes without any of theirs."""
    writes_html = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|"
        r"createContextualFragment|srcdoc|setHTML|setAttribute\(\s*[\"'`]on"
    )
    sources = [*(BASE_DIR / "frontend" / "src").rglob("*.js")]
    assert len(sources) > 20
    found = {
        str(path.relative_to(BASE_DIR / "frontend" / "src")) for path in sources if writes_html.search(path.read_text())
    }
    assert found == {"text/markdown.js", "text/extras.js"}, "libraries that escape: tests/browser/test_text_battle.py"


def test_a_page_writes_what_its_address_says_as_text(visitor: Visitor) -> None:
    for text in NASTY:
        for address, name in (("/leaderboard", "search"), ("/leaderboard", "robot_id"), ("/nowhere", "q")):
            check_html(visitor.client.get(address, {name: text}).content.decode())


def test_the_admin_shows_and_finds_it_as_text(visitor: Visitor, played: list[str]) -> None:
    root = logged_in(User.objects.create_superuser("root"))
    turns = root.get("/admin/arena/turn/").content.decode()
    check_html(turns)
    assert escape(TAG) in turns
    for turn in Turn.objects.all():
        check_html(root.get(f"/admin/arena/turn/{turn.pk}/change/").content.decode())
        check_html(root.get("/admin/arena/turn/", {"q": turn.instruction}).content.decode())
        check_html(root.get(f"/admin/arena/battle/{turn.battle.pk}/change/").content.decode())


async def test_the_socket_sends_it_as_json(visitor: Visitor, played: list[str]) -> None:
    for battle_id, text in zip(played, NASTY, strict=True):
        async with Socket(visitor, battle_id) as socket:
            snapshot = await socket.next()
            assert snapshot["battle"]["turns"][0]["instruction"] == text


def test_no_export_carries_it_and_no_cell_begins_a_formula(visitor: Visitor, played: list[str], tmp_path: Path) -> None:
    aggregation.aggregate()
    votes = tmp_path / "votes.csv"
    call_command("export_votes", str(votes), stdout=StringIO())
    snapshot = Snapshot.objects.get()
    counts = visitor.client.get(f"/leaderboard/counts/{snapshot.input_hash}.csv.gz")
    assert counts.status_code == 200
    for text in (votes.read_text(), gzip.decompress(counts.content).decode()):
        assert len(text.splitlines()) > 1
        assert not any(nasty in text for nasty in NASTY)
        for row in csv.reader(StringIO(text)):
            assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row), row


@pytest.mark.parametrize("model_id", ["-2-3", "_x", "=cmd", "+1", "@SUM"])
def test_a_policy_has_no_id_that_could_begin_a_formula(transactional_db: None, model_id: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Policy(id=model_id, name="x", license="x", family="film", adapter="film").full_clean()
    assert "id" in refused.value.message_dict


@pytest.mark.parametrize("kind", ["plain", "json"])
def test_a_log_line_stays_one_line_whatever_is_in_it(visitor: Visitor, caplog: Any, kind: str) -> None:
    with caplog.at_level(logging.INFO):
        for text in [*NASTY, *REFUSED[:-1]]:
            visitor.client.get(
                "/nowhere/" + text.replace("?", ""), headers={"User-Agent": text.encode().decode("latin-1")}
            )
            logging.getLogger("arena").warning("somebody said %s", text)
    lines = [formatter(kind).format(record) for record in caplog.records]
    assert len(lines) > len(NASTY)
    for line in lines:
        assert line.isprintable(), line
