"""The API describes itself, and shows that without asking another site for anything."""

from __future__ import annotations

import re

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

pytestmark = pytest.mark.django_db


def test_the_schema_names_the_calls_of_every_room(client: Client) -> None:
    schema = client.get("/api/schema/", headers={"accept": "application/json"}).json()
    paths = {path.rstrip("/") for path in schema["paths"]}
    assert {"/api/health", "/api/sessions/init", "/api/models", "/api/leaderboard"} <= paths


def test_every_call_has_a_summary_of_its_own(client: Client) -> None:
    schema = client.get("/api/schema/", headers={"accept": "application/json"}).json()
    calls = {f"{method} {path}": call for path, calls in schema["paths"].items() for method, call in calls.items()}
    summaries = [call.get("summary", "") for call in calls.values()]
    assert [name for name, call in calls.items() if not 3 <= len(call.get("summary", "")) <= 60] == []
    assert len(set(summaries)) == len(summaries)


def test_the_page_has_the_sites_header_and_a_way_back(client: Client) -> None:
    page = client.get("/api/docs/").content.decode()
    assert '<header class="site-header">' in page
    assert 'href="/">Back to the arena</a>' in page
    assert 'name="theme" value="dark"' in page


def test_the_page_loads_its_scripts_and_styles_from_here_and_runs_none_written_into_it(client: Client) -> None:
    response = client.get("/api/docs/")
    page = response.content.decode()
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", page, re.DOTALL)
    assert scripts
    assert all("src=" in attributes and not body.strip() for attributes, body in scripts)
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert all(address.startswith(("/", "#")) for address in addresses), addresses
    files = [address.removeprefix("/static/") for address in addresses if address.startswith("/static/")]
    assert files
    assert [file for file in files if not finders.find(file)] == []
    assert "script-src 'self';" in response.headers["Content-Security-Policy"] + ";"
