"""The model beside the arena: started where it can run, and where it cannot the reason is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arena import kinds
from arena.models import ContestantStatus
from arena.queue import hosting
from tests.factories import PolicyFactory
from texts import embedded, health
from texts.client import ServerFailed, client_of
from texts.models import LanguageModel
from vlaarena.supervisor import plan
from vlaarena.supervisor.folder import DataFolder


def test_an_old_processor_is_told_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text("processor\t: 0\nflags\t\t: fpu sse2 fma\n")
    monkeypatch.setattr(embedded, "CPU_INFO", info)
    with pytest.raises(embedded.CannotServe, match="lacks avx2"):
        embedded.command(7000, tmp_path / "key")


def test_without_the_packages_the_line_to_type_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "processor_flags", lambda: {"avx2", "fma"})
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(embedded.CannotServe, match="make install`"):
        embedded.command(7000, tmp_path / "key")


def test_the_key_stands_in_no_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every user of the machine can read those."""
    monkeypatch.setattr(embedded, "command", lambda port, key_file: ["serve", str(port), str(key_file)])
    monkeypatch.setattr(embedded, "QWEN_FILE", tmp_path / "none.gguf")
    found = plan.language_server(DataFolder(tmp_path))
    key = DataFolder(tmp_path).password("language")
    assert (tmp_path / "language_password").read_text() == key
    assert found.urls == {"ARENA_EMBEDDED_TEXT_URL": f"http://arena:{key}@127.0.0.1:{found.specs[0].port}/v1"}
    assert key not in " ".join(found.specs[0].command)


def test_kinds_that_wait_have_a_worker_of_their_own_and_the_other_one_leaves_them_to_it(tmp_path: Path) -> None:
    def workers(found: list[Any]) -> dict[str, dict[str, str]]:
        specs = plan.parts(queues=["q"], worker_processes=1, host="127.0.0.1", port=1, kinds=found)
        return {spec.name: dict(spec.environment) for spec in specs if spec.name in ("worker", "waiting")}

    assert workers([kinds.get("robots")]) == {"worker": {}}
    assert workers([kinds.get("robots"), kinds.get("text")]) == {
        "worker": {"ARENA_WORKER_KINDS": "robots"},
        "waiting": {"ARENA_WORKER_KINDS": "text"},
    }


@pytest.mark.django_db
def test_a_worker_hosts_the_contestants_of_its_kinds_alone(settings: Any) -> None:
    PolicyFactory(id="a-policy", model_path="/anywhere")
    embedded.seed_models(served=True)
    settings.WORKER_KINDS = ["text"]
    assert {each.id for each in hosting.hosted()} == set(embedded.CONTESTANTS)
    settings.WORKER_KINDS = ["robots"]
    assert {each.id for each in hosting.hosted()} == {"a-policy"}


@pytest.mark.django_db
def test_its_contestants_are_valid_entered_once_and_unavailable_without_their_server(settings: Any) -> None:
    assert embedded.seed_models(served=False) == []
    assert embedded.seed_models(served=True) == list(embedded.CONTESTANTS)
    LanguageModel.objects.filter(pk="smollm2-hot").update(name="Edited")
    assert embedded.seed_models(served=True) == []
    assert LanguageModel.objects.get(pk="smollm2-hot").name == "Edited"
    for model in LanguageModel.objects.all():
        model.full_clean()
    assert health.check_all() == 3
    assert set(LanguageModel.objects.values_list("status", flat=True)) == {ContestantStatus.UNAVAILABLE}


@pytest.mark.django_db
def test_address_and_key_of_the_server_beside_the_arena_come_from_its_start(settings: Any) -> None:
    embedded.seed_models(served=True)
    model = LanguageModel.objects.get(pk="smollm2-plain")
    with pytest.raises(ServerFailed, match="no language server"):
        client_of(model)
    settings.TEXT = {**settings.TEXT, "embedded_url": "http://arena:k3y@127.0.0.1:7000/v1", "hosts": []}
    client = client_of(model)
    assert (str(client.base_url), client.api_key) == ("http://127.0.0.1:7000/v1/", "k3y")


def test_qwen_has_a_server_of_its_own_where_its_file_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "processor_flags", lambda: {"avx2", "fma"})
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setattr(embedded, "model_file", lambda: tmp_path / "small.gguf")
    monkeypatch.setattr(embedded, "QWEN_FILE", tmp_path / "qwen.gguf")
    assert [spec.name for spec in plan.language_server(DataFolder(tmp_path)).specs] == ["language"]
    embedded.QWEN_FILE.write_bytes(b"GGUF")
    found = plan.language_server(DataFolder(tmp_path))
    assert [spec.name for spec in found.specs] == ["language", "language-qwen"]
    assert set(found.urls) == {"ARENA_EMBEDDED_TEXT_URL", "ARENA_EMBEDDED_QWEN_URL"}
    assert str(embedded.QWEN_FILE) in found.specs[1].command


@pytest.mark.django_db
def test_qwen_is_a_contestant_where_it_is_served_and_answers_from_its_own_server(settings: Any) -> None:
    assert embedded.seed_models(served=False, qwen_served=True) == ["qwen2-5-coder"]
    qwen = LanguageModel.objects.get()
    qwen.full_clean()
    settings.TEXT = {**settings.TEXT, "embedded_url": "http://arena:a@127.0.0.1:7000/v1", "hosts": []}
    with pytest.raises(ServerFailed, match="no language server"):
        client_of(qwen)
    settings.TEXT = {**settings.TEXT, "embedded_qwen_url": "http://arena:k3y@127.0.0.1:7001/v1"}
    assert str(client_of(qwen).base_url) == "http://127.0.0.1:7001/v1/"
