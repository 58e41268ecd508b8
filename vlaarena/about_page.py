"""The page about the arena, with what its operator tells of source and contact. Every page's footer links to it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.validators import validate_email
from django.forms import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

CITATION = """@misc{vla_arena,
  title        = {VLA Arena: blind battles between vision-language-action models},
  howpublished = {\\url{%s}},
  year         = {%d},
  note         = {Accessed: YYYY-MM-DD}
}"""


def about(request: HttpRequest) -> HttpResponse:
    context = {
        "page": "about",
        "citation": CITATION % (request.build_absolute_uri("/"), datetime.now(UTC).year),
        "contact": settings.CONTACT,
        "contact_url": contact_url(settings.CONTACT),
    }
    return render(request, "about.html", context)


def context(request: HttpRequest) -> dict[str, Any]:
    """Context of every template: where the source is, or where the page about the arena says that it is not told."""
    return {"source_url": settings.SOURCE_URL or f"{reverse('about')}#source"}


def contact_url(contact: str) -> str:
    """Where a link to the contact leads: to an e-mail or to a page. "" for other words, which are only shown."""
    if contact.startswith(("https://", "http://")):
        return contact
    try:
        validate_email(contact)
    except ValidationError:
        return ""
    return f"mailto:{contact}"
