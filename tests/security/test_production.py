"""What a public site is served with, and what it refuses to be served with."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from tests.system.test_settings import run_with
from vlaarena.production import AccessSettings, refuse_unsafe, weak_key, weak_login

KEY = "k7Zp2-QwXm9_Lr4TnBv8Yd1HsGc6JfEo3AiUa5NzRbVtCqMxKe0WyPl"
SAFE: dict[str, Any] = {
    "secret_key": KEY,
    "debug": False,
    "proxies": 1,
    "hosts": ["arena.example.org", "localhost"],
    "origins": {"ARENA_ORIGINS": ["https://arena.example.org"], "ARENA_CORS_ORIGINS": []},
    "servers": {
        "DATABASE_URL": "postgres://arena:8f3a61b2c9d04e57@postgres:5432/arena",
        "BROKER_URL": "redis://127.0.0.1:6379/0",
    },
}
ENVIRONMENT = {
    "ARENA_HTTPS": "yes",
    "ARENA_PROXIES": "1",
    "ARENA_HOSTS": "arena.example.org,localhost",
    "ARENA_ORIGINS": "https://arena.example.org",
    "ARENA_SECRET_KEY": KEY,
}


def test_what_is_safe_is_served() -> None:
    refuse_unsafe(AccessSettings(**SAFE))
    refuse_unsafe(AccessSettings(**{**SAFE, "secret_key": None}))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"debug": True}, "ARENA_DEBUG"),
        ({"proxies": 0}, "ARENA_PROXIES"),
        ({"secret_key": "short"}, "secrets.token_urlsafe"),
        ({"secret_key": "abc" * 20}, "repeats itself"),
        ({"secret_key": "change-me-" + KEY}, "'change'"),
        ({"hosts": ["*"]}, "ARENA_HOSTS accepts any name"),
        ({"hosts": [".example.org"]}, "list the site's names, for example example.org"),
        ({"hosts": ["arena.example.org", ".lab.example.org"]}, "accepts every name under lab.example.org"),
        ({"hosts": ["localhost", "[::1]"]}, "ARENA_HOSTS names no public host"),
        ({"origins": {"ARENA_ORIGINS": ["http://arena.example.org"]}}, "ARENA_ORIGINS: 'http://arena.example.org'"),
        ({"origins": {"ARENA_CORS_ORIGINS": ["https://*.example.org"]}}, "ARENA_CORS_ORIGINS"),
        ({"servers": {"DATABASE_URL": "postgres://arena:arena@postgres/arena"}}, "its user's name or a placeholder"),
        ({"servers": {"DATABASE_URL": "postgres://arena:password@postgres/arena"}}, "DATABASE_URL"),
        ({"servers": {"DATABASE_URL": "postgres://arena@postgres/arena"}}, "no password for postgres"),
        ({"servers": {"BROKER_URL": "amqp://guest:guest@rabbit:5672//"}}, "BROKER_URL"),
        ({"servers": {"BROKER_URL": "redis://valkey:6379/0"}}, "no password for valkey"),
        ({"servers": {"MONGO_URL": "mongodb://a:12345678901@mongo-1,mongo-2/?replicaSet=r"}}, "12 characters"),
        ({"servers": {"MONGO_URL": "mongodb://a:111111111111@mongo/"}}, "not the same few"),
    ],
)
def test_what_is_unsafe_is_refused_by_name_with_the_way_out(change: dict[str, Any], told: str) -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        refuse_unsafe(AccessSettings(**{**SAFE, **change}))
    assert told in str(refused.value)
    assert str(refused.value).count("\n- ") == 1


def test_everything_unsafe_is_told_at_once() -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        refuse_unsafe(AccessSettings(secret_key="x", debug=True, proxies=0, hosts=["*"], origins={}, servers={}))
    assert str(refused.value).count("\n- ") >= 4


def test_keys_and_passwords_made_as_the_refusal_says_are_taken() -> None:
    for _ in range(2000):
        assert not weak_key(secrets.token_urlsafe(48))
        assert not weak_login(f"redis://:{secrets.token_hex(16)}@valkey:6379/0")


def test_the_checks_for_deployment_find_nothing(tmp_path: Path) -> None:
    check = "import sys; from django.core.management import execute_from_command_line as run; run(sys.argv)"
    sys_argv = "import sys; sys.argv = ['manage.py', 'check', '--deploy', '--fail-level', 'WARNING']; "
    done = run_with(tmp_path, sys_argv + check, **ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    assert "no issues (0 silenced)" in done.stdout
    refused = run_with(tmp_path, sys_argv + check, **{**ENVIRONMENT, "ARENA_SECRET_KEY": "x" * 50})
    assert refused.returncode != 0
    assert "ARENA_SECRET_KEY repeats itself" in refused.stderr


ASK = """
import django, json; django.setup()
from django.test import Client
client = Client(headers={"host": "arena.example.org"})
def told(answer):
    cookies = {name: {key: str(value) for key, value in morsel.items()} for name, morsel in answer.cookies.items()}
    return {"status": answer.status_code, "headers": dict(answer.headers), "cookies": cookies}
tls = {"X-Forwarded-Proto": "https"}
print(json.dumps({
    "plain": told(client.get("/admin/login/")),
    "health": told(client.get("/api/health/live", headers={"host": "localhost"})),
    "login": told(client.get("/admin/login/", headers=tls)),
    "wish": told(client.post("/wish", {"theme": "dark"}, headers=tls)),
    "other host": told(client.get("/admin/login/", headers={**tls, "host": "elsewhere.example"})),
}))
"""


def test_a_public_site_is_under_tls_only_and_its_cookies_too(tmp_path: Path) -> None:
    done = run_with(tmp_path, ASK, **ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout.splitlines()[-1])
    assert answers["plain"]["status"] == 301
    assert answers["plain"]["headers"]["Location"] == "https://arena.example.org/admin/login/"
    assert answers["health"]["status"] == 200
    assert answers["login"]["status"] == 200
    policy = answers["login"]["headers"]["Strict-Transport-Security"]
    assert policy == "max-age=31536000; includeSubDomains; preload"
    csrf = answers["login"]["cookies"]["csrftoken"]
    assert (csrf["secure"], csrf["httponly"], csrf["samesite"]) == ("True", "True", "Lax")
    assert answers["wish"]["cookies"]["theme"]["secure"] == "True"
    assert answers["other host"]["status"] == 400


def test_without_the_switch_a_laptop_is_served_in_the_clear(tmp_path: Path) -> None:
    ask = ASK.replace("arena.example.org", "127.0.0.1")
    done = run_with(tmp_path, ask, ARENA_SECRET_KEY=KEY)
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout.splitlines()[-1])
    assert answers["plain"]["status"] == 200
    assert "Strict-Transport-Security" not in answers["plain"]["headers"]
    assert not answers["plain"]["cookies"]["csrftoken"]["secure"]


def test_libraries_are_told_to_stay_offline(tmp_path: Path) -> None:
    done = run_with(tmp_path, "import vlaarena.settings, os; print(os.environ['HF_HUB_OFFLINE'])")
    assert done.stdout.strip() == "1", done.stderr
