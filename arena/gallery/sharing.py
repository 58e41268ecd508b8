"""What other sites show of a shared battle: a title, a description, a picture, a frame."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext

from arena.models import GalleryEntry, VoteChoice
from arena.shapes import OEmbedJson

FRAME = (640, 400)
PREVIEW = (1200, 630)
LONGEST_TITLE = 80


def path_of(address: str) -> str:
    try:
        return urlsplit(address).path
    except ValueError:
        return ""


def sentences(entry: GalleryEntry) -> dict[str, str]:
    """A shared battle in the third person, for people who did not vote in it."""
    left, right = entry.left_model.name, entry.right_model.name
    asked = gettext("A visitor told both models: “%(instruction)s”") % {"instruction": entry.public_instruction}
    return {
        "title": gettext("“%(instruction)s”: %(left)s against %(right)s")
        % {"instruction": _shortened(entry.public_instruction), "left": left, "right": right},
        "asked": asked,
        "said": _said(entry, left, right),
    }


def _said(entry: GalleryEntry, left: str, right: str) -> str:
    names = {"left": left, "right": right}
    return {
        VoteChoice.LEFT_BETTER: gettext("Without knowing the names, they preferred %(left)s to %(right)s."),
        VoteChoice.RIGHT_BETTER: gettext("Without knowing the names, they preferred %(right)s to %(left)s."),
        VoteChoice.TIE: gettext("Without knowing the names, they called it a tie: %(left)s and %(right)s."),
        VoteChoice.BOTH_BAD: gettext("Without knowing the names, they found both bad: %(left)s and %(right)s."),
    }[VoteChoice(entry.vote.vote)] % names


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_TITLE else f"{text[: LONGEST_TITLE - 1].rstrip()}…"


def addresses(request: HttpRequest, entry: GalleryEntry) -> dict[str, str]:
    """Absolute addresses of a shared battle: its page, its preview, its frame."""
    battle_id = entry.vote.battle_id
    page = request.build_absolute_uri(reverse("shared-battle-page", args=[battle_id]))
    return {
        "page": page,
        "preview": request.build_absolute_uri(reverse("battle-preview", args=[battle_id])),
        "frame": request.build_absolute_uri(reverse("embedded-battle", args=[battle_id])),
        "oembed": f"{request.build_absolute_uri(reverse('oembed'))}?url={page}",
    }


def frame_code(request: HttpRequest, entry: GalleryEntry) -> str:
    """The HTML that shows the battle in another page."""
    return format_html(
        '<iframe src="{}" title="{}" width="{}" height="{}" loading="lazy"></iframe>',
        addresses(request, entry)["frame"],
        sentences(entry)["title"],
        *FRAME,
    )


def context(request: HttpRequest, entry: GalleryEntry) -> dict[str, Any]:
    """For the templates of the shared page and of the frame."""
    return {
        "entry": entry,
        "words": sentences(entry),
        "addresses": addresses(request, entry),
        "frame_code": frame_code(request, entry),
    }


def oembed(request: HttpRequest, entry: GalleryEntry) -> OEmbedJson:
    return {
        "version": "1.0",
        "type": "rich",
        "title": sentences(entry)["title"],
        "provider_name": "VLA Arena",
        "provider_url": request.build_absolute_uri("/"),
        "html": frame_code(request, entry),
        "width": FRAME[0],
        "height": FRAME[1],
        "thumbnail_url": addresses(request, entry)["preview"],
        "thumbnail_width": PREVIEW[0],
        "thumbnail_height": PREVIEW[1],
    }
