"""Moderators see whose admin they are in."""

from __future__ import annotations

from django.test import Client


def test_the_admin_bears_the_arena_s_name(client: Client) -> None:
    page = client.get("/admin/login/").content.decode()

    assert "VLA Arena" in page
    assert "Django administration" not in page
