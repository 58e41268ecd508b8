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


def test_the_page_loads_its_scripts_and_styles_from_here_and_runs_none_written_into_it(client: Client) -> None:
    response = client.get("/api/docs/")
    page = response.content.decode()
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", page, re.DOTALL)
    assert scripts
    assert all("src=" in attributes and not body.strip() for attributes, body in scripts)
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert all(address.startswith("/") for address in addresses), addresses
    files = [address.removeprefix("/static/") for address in addresses if address.startswith("/static/")]
    assert files
    assert [file for file in files if not finders.find(file)] == []
    assert "script-src 'self';" in response.headers["Content-Security-Policy"] + ";"
