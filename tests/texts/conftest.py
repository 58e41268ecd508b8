"""A scripted server, language models on it, and battles between two of them that are played at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from arena import kinds
from tests.arena.conftest import Visitor
from tests.factories import TextModelFactory
from tests.kinds.conftest import House, in_threads
from tests.texts.servers import ScriptedServer, scripted_server
from texts.models import LanguageModel

Models = Callable[[str], LanguageModel]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as running:
        yield running


@pytest.fixture
def model(transactional_db: None, server: ScriptedServer) -> Models:
    """Makes the contestant whose server behaves as a script of `servers.SCRIPTS` says."""
    return lambda script: TextModelFactory(id=f"the-{script}", base_url=server.url, served_name=script)


@pytest.fixture
def visitor(transactional_db: None) -> Visitor:
    return Visitor()


@pytest.fixture
def house(model: Models) -> Callable[[str, str], House]:
    """The text arena with these two as its contestants: left and right."""
    play = in_threads(kinds.get("text").play)
    return lambda left, right: House(kinds.get("text"), (model(left), model(right)), play)
