"""The headers of every page, admin and Swagger included: what a browser may load, run, tell others and be framed by."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.admin.sites import site
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests.factories import VoteFactory
from tests.people import logged_in
from vlaarena.static_headers import PLAIN_POLICY, WORKER_POLICY

pytestmark = pytest.mark.django_db
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data: blob:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "worker-src": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    "form-action": "'self'",
}
# django-celery-beat writes one into its form, which the policy keeps from running: it would only word the schedules.
HOLD_A_SCRIPT = {"/admin/django_celery_beat/periodictask/add/"}
PAGES = [
    *("/", "/battle", "/models", "/leaderboard", "/leaderboard/physics", "/leaderboard/pairs", "/leaderboard/checks"),
    *("/leaderboard/method", "/admin/login/", "/nowhere", "/api/models", "/api/nowhere", "/api/schema/"),
]


@pytest.fixture
def root() -> Client:
    return logged_in(User.objects.create_superuser("root"))


def policy_of(answer: Any) -> dict[str, str]:
    parts = (part.strip().partition(" ") for part in answer["Content-Security-Policy"].split(";"))
    return {name: value for name, _, value in parts}


def check_headers(answer: Any) -> None:
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
    assert answer["Cross-Origin-Resource-Policy"] == "same-origin"
    refused = dict(part.split("=") for part in answer["Permissions-Policy"].split(", "))
    assert {"camera", "microphone", "geolocation", "payment", "usb"} <= set(refused)
    assert set(refused.values()) == {"()"}
    assert "Server" not in answer
    assert "X-Powered-By" not in answer


def check_markup(page: str) -> None:
    """Nothing that the policy would have to allow: no script, style or handler is written into the page."""
    assert "<style" not in page
    assert not re.search(r"""\sstyle\s*=\s*["']""", page)
    assert not re.search(r"""\son[a-z]+\s*=\s*["']""", page)
    for attributes, body in re.findall(r"<script([^>]*)>(.*?)</script>", page, re.DOTALL):
        assert "src=" in attributes or "application/json" in attributes or not body.strip(), body[:200]
    foreign = re.findall(r"""(?:src|action)=["'](?:https?:)?//[^"']*""", page)
    assert foreign == []


@pytest.mark.parametrize("address", PAGES)
def test_a_page_may_load_and_run_our_own_files_alone(client: Client, address: str) -> None:
    answer = client.get(address)
    assert policy_of(answer) == POLICY
    check_headers(answer)
    if answer["Content-Type"].startswith("text/html"):
        check_markup(answer.content.decode())


def test_every_page_of_the_admin_is_as_strict(root: Client) -> None:
    VoteFactory()
    addresses = [reverse("admin:index"), reverse("admin:second-factor"), reverse("admin:password_change")]
    for model in site._registry:
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        addresses.append(reverse(f"admin:{name}_changelist"))
        addresses.append(reverse(f"admin:{name}_add"))
        row = model._default_manager.first()
        if row is not None:
            addresses.append(reverse(f"admin:{name}_change", args=[row.pk]))
    for address in addresses:
        answer = root.get(address)
        assert answer.status_code in (200, 403), address
        assert policy_of(answer) == POLICY, address
        check_headers(answer)
        if address not in HOLD_A_SCRIPT:
            check_markup(answer.content.decode())


def test_swagger_alone_may_write_styles_into_its_page_and_runs_no_script_of_it(client: Client) -> None:
    answer = client.get("/api/docs/")
    assert policy_of(answer) == {**POLICY, "style-src": "'self' 'unsafe-inline'"}
    check_headers(answer)


def test_static_files_may_do_nothing_and_the_physics_worker_may_evaluate() -> None:
    assert PLAIN_POLICY.startswith("default-src 'none'")
    assert "unsafe-eval" not in PLAIN_POLICY
    assert WORKER_POLICY.startswith("default-src 'none'; script-src 'self' 'unsafe-eval' 'wasm-unsafe-eval'")


def test_pages_of_visitors_read_no_session_and_can_be_kept_for_all_alike(client: Client) -> None:
    for address in ("/", "/leaderboard", "/api/models"):
        answer = client.get(address)
        assert "sessionid" not in answer.cookies
        assert "csrftoken" not in answer.cookies


def test_other_sites_read_nothing_unless_they_are_named(client: Client, settings: Any) -> None:
    origin = {"Origin": "https://lab.example"}
    assert "Access-Control-Allow-Origin" not in client.get("/api/models", headers=origin)
    settings.CORS_ALLOWED_ORIGINS = ["https://lab.example"]
    answer = client.get("/api/models", headers=origin)
    assert answer["Access-Control-Allow-Origin"] == "https://lab.example"
    assert "Access-Control-Allow-Credentials" not in answer
    assert "Access-Control-Allow-Origin" not in client.get("/api/models", headers={"Origin": "https://other.example"})
    assert "Access-Control-Allow-Origin" not in client.get("/admin/login/", headers=origin)
    asked = {**origin, "Access-Control-Request-Method": "POST"}
    assert client.options("/api/votes", headers=asked)["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"
    assert client.post("/api/sessions/init", {}, content_type="application/json", headers=origin).status_code == 403
