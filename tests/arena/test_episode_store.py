"""Episodes outlive crashes, and are written once however often they are written (V-MG-01..05)."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from arena.ids import new_id
from arena.store import EpisodeStore, EpisodeSuperseded, StoreUnavailable, get_store
from tests.ports import free_port
from vlaarena import bundled

pytestmark = pytest.mark.engine


def document(episode_id: str, attempt: int = 1, **more: Any) -> dict[str, Any]:
    return {"_id": episode_id, "attempt": attempt, "states": [{"time": 0.1, "qpos": [1 / 3, -0.0, 1e-300]}], **more}


def test_what_was_saved_is_read_back_bit_for_bit() -> None:
    episode_id = new_id("ep")
    get_store().save(document(episode_id))
    found = get_store().get(episode_id)
    assert found == document(episode_id)
    assert str(found["states"][0]["qpos"]) == str([1 / 3, -0.0, 1e-300])
    assert episode_id in set(get_store().ids())


def test_writing_the_same_episode_again_changes_nothing() -> None:
    episode_id, before = new_id("ep"), get_store().count()
    for _ in range(3):
        get_store().save(document(episode_id))
    assert get_store().count() == before + 1


def test_a_later_attempt_replaces_an_earlier_one_and_never_the_other_way_round() -> None:
    episode_id = new_id("ep")
    get_store().save(document(episode_id, attempt=1))
    get_store().save(document(episode_id, attempt=2, side="left"))
    with pytest.raises(EpisodeSuperseded):
        get_store().save(document(episode_id, attempt=1))
    found = get_store().get(episode_id)
    assert found is not None
    assert found["attempt"] == 2


def test_more_episodes_are_deleted_than_the_server_is_asked_to_delete_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.store.DELETED_AT_ONCE", 2)
    ids, kept = [new_id("ep") for _ in range(5)], new_id("ep")
    for episode_id in (*ids, kept):
        get_store().save(document(episode_id))
    get_store().delete([*ids, new_id("ep")])
    assert {*ids, kept} & set(get_store().ids()) == {kept}


def test_two_writers_at_once_leave_one_whole_episode() -> None:
    episode_id = new_id("ep")
    both = [threading.Thread(target=get_store().save, args=(document(episode_id),)) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert get_store().get(episode_id) == document(episode_id)


def test_an_episode_that_is_not_there_is_none() -> None:
    assert get_store().get(new_id("ep")) is None


def test_the_indexes_are_there_after_the_first_episode() -> None:
    get_store().save(document(new_id("ep")))
    keys = [list(index["key"]) for index in get_store()._episodes.index_information().values()]
    assert [("battle_id", 1), ("side", 1)] in keys
    assert [("turn_id", 1)] in keys


@pytest.mark.parametrize("url", ["mongodb://127.0.0.1:1", "mongodb://", "http://127.0.0.1"])
def test_a_store_that_is_not_there_says_so_soon(url: str) -> None:
    began = time.monotonic()
    with pytest.raises(StoreUnavailable), closing(EpisodeStore(url, "nowhere")) as store:
        store.ping()
    assert time.monotonic() - began < 3


def test_each_process_and_each_setting_has_its_own_client(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = get_store()
    assert get_store() is mine
    monkeypatch.setattr(settings, "MONGO_DATABASE", "another")
    assert get_store() is not mine


class Server:
    """A bundled store of our own, to be killed."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = bundled.mongo_url(self.port, "sesame")
        self._command = bundled.secantus_command(folder, self.port, "sesame")

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert bundled.wait_for(self.port)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    one = Server(tmp_path)
    one.start()
    yield one
    one.kill()


def test_a_killed_server_has_lost_no_episode_that_was_saved(server: Server) -> None:
    saved = [new_id("ep") for _ in range(30)]
    with closing(EpisodeStore(server.url, "kept")) as store, closing(EpisodeStore(server.url, "kept")) as fresh:
        for episode_id in saved:
            store.save(document(episode_id))
        server.kill()
        with pytest.raises(StoreUnavailable):
            store.get(saved[0])
        server.start()
        assert set(fresh.ids()) == set(saved)
        assert store.get(saved[-1]) == document(saved[-1])
