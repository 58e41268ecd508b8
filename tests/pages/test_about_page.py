"""The footer of every page, the page about the arena, and the icon at its old address."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from vlaarena.about_page import contact_url

pytestmark = pytest.mark.django_db
PAGES = ("/", "/battle", "/leaderboard", "/models", "/about/")


@pytest.mark.parametrize("path", PAGES)
def test_every_page_ends_with_the_same_links(client: Client, path: str) -> None:
    page = client.get(path).content.decode()
    links = re.findall(r'href="([^"]*)"', page[page.index('class="footer-links"') : page.index("</footer>")])
    assert links == [
        "/about/",
        "/about/#how",
        "/about/#cite",
        "/about/#source",
        "/api/docs/",
        "/data/",
        "/privacy/",
        "/about/#contact",
    ]


def test_every_link_of_the_footer_leads_to_a_place_on_the_page(client: Client) -> None:
    page = client.get("/about/").content.decode()
    for place in ("how", "cite", "source", "contact"):
        assert f'<section id="{place}"' in page


def test_the_operators_source_and_contact_are_told(client: Client, settings: Any) -> None:
    settings.SOURCE_URL, settings.CONTACT = "https://example.org/arena", "people@example.org"
    page = client.get("/about/").content.decode()
    assert page.count('href="https://example.org/arena"') == 2
    assert 'href="mailto:people@example.org"' in page


def test_an_operator_who_told_neither_is_said_to_have_told_neither(client: Client) -> None:
    page = client.get("/about/").content.decode()
    assert "have not given a contact" in page
    assert "have not said where its source code can be read" in page
    assert "mailto:" not in page


@pytest.mark.parametrize(
    ("contact", "address"),
    [
        ("people@example.org", "mailto:people@example.org"),
        ("https://example.org/write", "https://example.org/write"),
        ("Room 5, on Mondays", ""),
        ("javascript:alert(1)", ""),
    ],
)
def test_a_contact_is_a_link_only_if_it_is_an_address(contact: str, address: str) -> None:
    assert contact_url(contact) == address


def test_the_citation_names_this_site(client: Client) -> None:
    assert "\\url{http://testserver/}" in client.get("/about/").content.decode()


def test_browsers_that_ask_for_the_old_icon_get_it(client: Client) -> None:
    answer = client.get("/favicon.ico")
    assert answer.status_code == 200
    assert answer["Content-Type"] in {"image/x-icon", "image/vnd.microsoft.icon"}
    content = b"".join(answer)  # type: ignore[call-overload]
    assert content.startswith(b"\x00\x00\x01\x00")
    assert len(content) < 8_000
