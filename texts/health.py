"""Which servers answer. A model whose server does not is unavailable with the reason, and comes back by itself."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

from arena.models import ContestantStatus
from texts.client import ServerFailed, served_names
from texts.models import LanguageModel

log = logging.getLogger(__name__)
SIDE_BY_SIDE = 8
SERVER_TROUBLE = "server: "
"""Prefix of the reasons that are noted and taken back here. A moderator's reason stays."""


def check_all() -> int:
    """Ask the servers of all models that may be drawn or could not be, each once and side by side. Answers how many
    models cannot be asked for answers."""
    models = list(LanguageModel.objects.exclude(status=ContestantStatus.RETIRED))
    one_of_each = {_server(model): model for model in models}
    with ThreadPoolExecutor(SIDE_BY_SIDE) as threads:
        listed = dict(zip(one_of_each, threads.map(_listed, one_of_each.values()), strict=True))
    return sum(not _note(model, _trouble(model, listed[_server(model)])) for model in models)


def check(model: LanguageModel) -> bool:
    """Ask the model's server whether it is there, and note it. Answers whether it is."""
    return _note(model, _trouble(model, _listed(model)))


def _server(model: LanguageModel) -> tuple[str, str]:
    """What models of one server share."""
    return model.base_url, model.key_variable


def _listed(model: LanguageModel) -> list[str] | ServerFailed:
    """What the server lists, or why it does not."""
    try:
        return served_names(model)
    except ServerFailed as failure:
        return failure


def _trouble(model: LanguageModel, listed: list[str] | ServerFailed) -> str:
    """ "" if there is none."""
    if isinstance(listed, ServerFailed):
        return str(listed)
    return "" if model.served_name in listed else f"it does not list {model.served_name}"


def _note(model: LanguageModel, trouble: str) -> bool:
    model.refresh_from_db(fields=["status", "status_reason"])
    noted = model.status == ContestantStatus.UNAVAILABLE and model.status_reason.startswith(SERVER_TROUBLE)
    if trouble and model.status == ContestantStatus.ACTIVE:
        log.warning("%s is unavailable: %s", model.pk, trouble)
        model.mark_unavailable(SERVER_TROUBLE + trouble)
    elif not trouble and noted:
        log.info("%s is available again", model.pk)
        model.activate()
    return not trouble
