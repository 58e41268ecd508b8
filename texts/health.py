"""Which servers answer. A model whose server does not is unavailable with the reason, and comes back by itself."""

from __future__ import annotations

import logging

from arena.models import ContestantStatus
from texts.client import ServerFailed, served_names
from texts.models import LanguageModel

log = logging.getLogger(__name__)
SERVER_TROUBLE = "server: "
"""Prefix of the reasons that are noted and taken back here. A moderator's reason stays."""


def check_all() -> int:
    """Ask the servers of all models that may be drawn or could not be. Answers how many do not answer."""
    return sum(not check(model) for model in LanguageModel.objects.exclude(status=ContestantStatus.RETIRED))


def check(model: LanguageModel) -> bool:
    """Ask the model's server whether it is there, and note it. Answers whether it is."""
    trouble = _trouble(model)
    model.refresh_from_db(fields=["status", "status_reason"])
    noted = model.status == ContestantStatus.UNAVAILABLE and model.status_reason.startswith(SERVER_TROUBLE)
    if trouble and model.status == ContestantStatus.ACTIVE:
        log.warning("%s is unavailable: %s", model.pk, trouble)
        model.mark_unavailable(SERVER_TROUBLE + trouble)
    elif not trouble and noted:
        log.info("%s is available again", model.pk)
        model.activate()
    return not trouble


def _trouble(model: LanguageModel) -> str:
    try:
        served_names(model)
    except ServerFailed as failure:
        return str(failure)
    return ""
