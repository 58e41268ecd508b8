"""The page about the data, the arena's public key, and the files of dumps."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import quote_etag
from django.views.decorators.http import require_safe

from exports import dumps, signing

TYPES = {".json": "application/json", ".gz": "application/gzip", ".txt": "text/plain; charset=utf-8"}
SHOWN = 8
"""Dumps on the page."""


@require_safe
def data(request: HttpRequest) -> HttpResponse:
    found = [each for name in dumps.names()[:SHOWN] if (each := dumps.manifest_of(name))]
    context = {
        "page": "data",
        "license": settings.DATA_LICENSE,
        "license_url": settings.DATA_LICENSE_URL,
        "key": known_key(),
        "dumps": found,
        "files": [(name, size_of(found[0], name)) for name in dumps.FILES] if found else [],
        "hours": settings.DUMP_HOURS,
        "days": settings.DUMP_DAYS,
        "contact": settings.CONTACT,
    }
    return render(request, "exports/data.html", context)


def size_of(manifest: dict[str, Any], name: str) -> int | None:
    """Bytes; None for the manifest and its signature, which no manifest names."""
    return manifest["files"][name]["bytes"] if name in manifest["files"] else None


def known_key() -> str:
    """The public key; "" while the arena has none."""
    try:
        return signing.public_key()
    except (signing.NoSigningKey, signing.BadKey):
        return ""


@require_safe
def public_key(request: HttpRequest) -> HttpResponse:
    if not (key := known_key()):
        raise Http404
    return HttpResponse(f"{key}\n", content_type="text/plain; charset=utf-8")


@require_safe
def dump_file(request: HttpRequest, name: str, file: str) -> HttpResponseBase:
    """A file of a dump, with its SHA-256 as ETag. That of the newest dump is asked for again each time."""
    path = dumps.find(name, file)
    if path is None:
        raise Http404
    tag = quote_etag(_sha256(path))
    headers = {"ETag": tag, "Cache-Control": "no-cache" if name == dumps.LATEST else "public, max-age=3600"}
    address = reverse("dump-file", args=[path.parent.name, file])
    if tag in [each.strip().removeprefix("W/") for each in request.headers.get("If-None-Match", "").split(",")]:
        return HttpResponseNotModified(headers=headers)
    content_type = TYPES.get(path.suffix, "application/octet-stream")
    return FileResponse(
        path.open("rb"),
        content_type=content_type,
        headers={**headers, "Content-Location": address, "Content-Encoding": "identity"},
    )


def _sha256(path: Path) -> str:
    manifest = dumps.manifest_of(path.parent.name)
    listed = manifest["files"].get(path.name) if manifest else None
    return listed["sha256"] if listed else hashlib.sha256(path.read_bytes()).hexdigest()
