"""The pages of a refusal are the arena's own: an old form, a page of others."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

pytestmark = pytest.mark.django_db


def test_a_form_without_its_token_is_answered_with_what_to_do() -> None:
    answer = Client(enforce_csrf_checks=True).post("/account/login/", {"login": "a@example.org"})
    assert answer.status_code == 403
    assert "This form is out of date" in answer.text
    assert 'href="/battle"' in answer.text


def test_the_page_of_an_old_form_speaks_the_visitors_language() -> None:
    client = Client(enforce_csrf_checks=True, headers={"Accept-Language": "de"})
    assert "Dieses Formular ist veraltet" in client.post("/account/login/", {"login": "a@example.org"}).text


def test_a_moderators_page_without_the_right_is_refused_in_the_arenas_look(client: Client) -> None:
    client.force_login(User.objects.create_user("staff", is_staff=True))
    answer = client.get("/admin/arena/battle/")
    assert answer.status_code == 403
    assert "This is not yours to open" in answer.text
