"""Calls and sockets are taken from pages of the same scheme, host and port, or of a trusted origin."""

from __future__ import annotations

from typing import Any

import pytest

from arena.visitors import origins
from tests.arena.conftest import Visitor
from vlaarena.own_pages import is_own_page

pytestmark = pytest.mark.django_db
OTHERS = [
    "https://testserver",
    "http://testserver:8080",
    "http://testserver:443",
    "https://testserver:80",
    "http://localhost",
    "http://testserver.elsewhere.example",
    "http://someone@testserver",
    "http://testserver:port",
    "ftp://testserver",
    "//testserver",
    "testserver",
    "null",
]


@pytest.mark.parametrize("header", ["Origin", "Referer"])
@pytest.mark.parametrize("source", OTHERS)
def test_a_call_from_a_page_of_another_scheme_host_or_port_is_refused(
    visitor: Visitor, header: str, source: str
) -> None:
    refused = visitor.post("sessions/init", {}, **{header: source})
    assert (refused.status_code, refused.json()["code"]) == (403, "cross_site")


@pytest.mark.parametrize("source", ["http://testserver", "http://testserver:80", "HTTP://TESTSERVER"])
def test_the_port_that_a_scheme_has_by_itself_may_be_left_out(visitor: Visitor, source: str) -> None:
    assert visitor.post("sessions/init", {}, Origin=source).status_code == 201


def handshake(origin: str | None, host: str | None = "testserver", scheme: str = "ws") -> dict[str, Any]:
    said = {b"origin": origin, b"host": host}
    return {"scheme": scheme, "headers": [(name, value.encode()) for name, value in said.items() if value is not None]}


def test_a_socket_goes_by_the_host_that_the_page_asked_for() -> None:
    assert is_own_page(handshake("http://testserver"))
    assert is_own_page(handshake("http://localhost:8000", "localhost:8000"))
    assert is_own_page(handshake("http://[::1]:8000", "[::1]:8000"))
    assert is_own_page(handshake("https://testserver", scheme="wss"))
    for source in OTHERS:
        assert not is_own_page(handshake(source)), source
    assert not is_own_page(handshake("http://localhost:8000", "localhost:8001"))
    assert not is_own_page(handshake("http://elsewhere.example", "elsewhere.example"))


def test_a_handshake_without_origin_or_host_or_with_two_is_no_browsers() -> None:
    assert not is_own_page(handshake(None))
    assert not is_own_page(handshake("http://testserver", None))
    twice = handshake("http://testserver")
    twice["headers"].append((b"origin", b"http://elsewhere.example"))
    assert not is_own_page(twice)


def test_under_tls_pages_without_it_are_strangers_whatever_the_proxy_passes_on(settings: Any) -> None:
    settings.HTTPS = True
    assert is_own_page(handshake("https://testserver"))
    assert not is_own_page(handshake("http://testserver"))
    assert not is_own_page(handshake("https://testserver:8443"))
    assert origins.is_own("https://testserver", secure=False, host="testserver")
    assert not origins.is_own("http://testserver", secure=False, host="testserver")


def test_trusted_origins_are_trusted_as_django_does(settings: Any) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://arena.example:8443", "https://*.lab.example"]
    for source in ("https://arena.example:8443", "https://a.lab.example", "https://a.b.lab.example"):
        assert is_own_page(handshake(source)), source
    for source in (
        *("https://arena.example", "http://arena.example:8443", "https://lab.example", "http://a.lab.example"),
        *("https://a.lab.example:8443", "https://badlab.example"),
    ):
        assert not is_own_page(handshake(source)), source
