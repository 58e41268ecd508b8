from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.apps import AppConfig
from django.conf import settings

if TYPE_CHECKING:
    from arena.chat import ChatModel


class TextsConfig(AppConfig):
    name = "texts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """The kind is known everywhere, so that votes on it stay what they are where it is not offered (any more)."""
        from arena import chat, kinds
        from texts.kind import Texts

        kinds.register(Texts())
        if Texts.id in settings.KINDS:
            chat.register(Texts.id, _models)


def _models() -> Mapping[str, ChatModel]:
    from texts.chat import models  # imports the client, which only what asks a model needs

    return models()
