"""A shared battle for people who did not vote in it: words in the third person, a preview, a frame."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client

from arena.gallery import entering
from arena.models import Vote, VoteChoice
from tests.factories import BattleFactory, TurnFactory, VoteFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def vote() -> Vote:
    made = VoteFactory.create(vote=VoteChoice.RIGHT_BETTER)
    made.battle.turns.update(instruction='put the "red" <cube> away')
    entering.enter_missing()
    return made


def meta(page: str) -> dict[str, str]:
    """Name or property -> content."""
    return dict(re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)">', page))


def page_of(address: str) -> str:
    answer = Client().get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_its_title_and_words_are_in_the_third_person(vote: Vote) -> None:
    page = page_of(f"/b/{vote.battle_id}")
    left, right = vote.left_model.name, vote.right_model.name
    title = re.search(r"<title>(.*?)</title>", page, re.DOTALL)
    assert title is not None
    assert title[1] == f"“put the &quot;red&quot; &lt;cube&gt; away”: {left} against {right} · VLA Arena"
    assert "A visitor told both models: “put the &quot;red&quot; &lt;cube&gt; away”" in page
    said = f"Without knowing the names, they preferred {right} to {left}."
    assert said in page
    assert meta(page)["og:description"].endswith(f"away”. {said}")
    assert meta(page)["og:description"] == meta(page)["description"]


def test_its_preview_is_named_by_absolute_addresses(vote: Vote) -> None:
    page = page_of(f"/b/{vote.battle_id}")
    told = meta(page)
    assert told["og:image"] == told["twitter:image"] == f"http://testserver/api/battles/{vote.battle_id}/preview.jpg"
    assert told["og:url"] == f"http://testserver/b/{vote.battle_id}"
    assert told["twitter:card"] == "summary_large_image"
    assert told["og:title"] in page
    assert f'<link rel="canonical" href="http://testserver/b/{vote.battle_id}">' in page


@pytest.mark.parametrize(("choice", "words"), [("tie", "they called it a tie"), ("both_bad", "they found both bad")])
def test_votes_for_neither_side_have_words_too(vote: Vote, choice: str, words: str) -> None:
    Vote.objects.update(vote=choice)
    assert words in page_of(f"/b/{vote.battle_id}")


def test_only_the_frame_may_be_framed(vote: Vote) -> None:
    frame = Client().get(f"/embed/battles/{vote.battle_id}/")
    assert frame.status_code == 200
    assert "X-Frame-Options" not in frame
    assert "frame-ancestors *" in frame["Content-Security-Policy"]
    for address in (f"/b/{vote.battle_id}", "/battles/", "/"):
        page = Client().get(address)
        assert page["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in page["Content-Security-Policy"]


def test_the_shared_page_has_the_code_of_the_frame_and_other_sites_find_it(vote: Vote) -> None:
    page = page_of(f"/b/{vote.battle_id}")
    assert f"&lt;iframe src=&quot;http://testserver/embed/battles/{vote.battle_id}/&quot;" in page
    link = re.search(r'type="application/json\+oembed" href="http://testserver([^"]+)"', page)
    assert link is not None
    told = json.loads(Client().get(link[1]).content)
    assert (told["version"], told["type"]) == ("1.0", "rich")
    assert f'src="http://testserver/embed/battles/{vote.battle_id}/"' in told["html"]


def test_an_unknown_and_an_unvoted_battle_have_the_same_nothing() -> None:
    battle = BattleFactory.create()
    TurnFactory.create(battle=battle, completed=True)
    unknown = f"battle_{'0' * 32}"
    for address in ("/b/{}", "/embed/battles/{}/", "/api/battles/{}/preview.jpg", "/api/oembed?url=/b/{}"):
        answers = [Client().get(address.format(each)) for each in (unknown, battle.battle_id)]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].content.replace(unknown.encode(), b"") == answers[1].content.replace(
            battle.battle_id.encode(), b""
        )
