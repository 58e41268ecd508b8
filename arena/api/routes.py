"""Addresses of the API, which work with and without a closing slash."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, path


def route(address: str, view: Any, name: str) -> list[URLPattern]:
    """The address as documented, and the same with or without the closing slash (left out of the schema)."""
    other = address.removesuffix("/") if address.endswith("/") else f"{address}/"
    return [path(address, view.as_view(), name=name), path(other, view.as_view(schema=None))]
