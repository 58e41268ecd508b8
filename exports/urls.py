"""Addresses of the data."""

from __future__ import annotations

from django.urls import path

from exports import pages

urlpatterns = [
    path("data/", pages.data, name="data"),
    path("data/key", pages.public_key, name="data-key"),
    path("data/dumps/<str:name>/<str:file>", pages.dump_file, name="dump-file"),
]
