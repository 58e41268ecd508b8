"""Nobody uploads: a large body is refused before a view sees it, and a file wherever a form brings one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from vlaarena.asgi import application

MOST = settings.DATA_UPLOAD_MAX_MEMORY_SIZE


async def send(pieces: list[bytes], length: int | None) -> tuple[int, dict[str, Any]]:
    """POST these pieces to the API, with this Content-Length or none; status and JSON of the answer."""
    headers = [(b"host", b"testserver"), (b"content-type", b"application/json")]
    if length is not None:
        headers.append((b"content-length", str(length).encode()))
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": "/api/nowhere",
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "scheme": "http",
    }
    wire = ApplicationCommunicator(application, scope)
    for number, piece in enumerate(pieces, start=1):
        await wire.send_input({"type": "http.request", "body": piece, "more_body": number < len(pieces)})
    start = await wire.receive_output(timeout=10)
    body = await wire.receive_output(timeout=10)
    return start["status"], json.loads(body["body"])


async def test_a_body_that_announces_too_much_is_refused_unread() -> None:
    status, told = await send([b""], MOST + 1)
    assert (status, told["code"]) == (413, "too_large")
    assert str(MOST) in told["detail"]


async def test_a_body_that_announces_nothing_is_refused_when_it_becomes_too_large() -> None:
    status, told = await send([b"x" * (MOST // 2)] * 3, None)
    assert (status, told["code"]) == (413, "too_large")


async def test_a_body_that_is_small_enough_reaches_its_view() -> None:
    assert (await send([b"x" * (MOST // 2)] * 2, MOST))[0] == 404


@pytest.mark.django_db
def test_a_form_with_a_file_is_refused_and_one_without_is_taken(client: Client) -> None:
    file = SimpleUploadedFile("a.txt", b"anything")
    assert client.post("/wish", {"theme": "dark", "file": file}).status_code == 400
    assert client.post("/wish", {"theme": "dark"}).status_code == 302


@pytest.mark.django_db
def test_the_api_takes_json_and_no_forms(client: Client) -> None:
    for kind in ("multipart/form-data; boundary=b", "application/x-www-form-urlencoded", "text/plain"):
        assert client.post("/api/sessions/init", b"robot_id=widowx", content_type=kind).status_code == 415
