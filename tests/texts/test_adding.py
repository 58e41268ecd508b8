"""`manage.py add_model` enters what answers, says how quickly, and enters nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from arena.models import ContestantStatus
from tests.factories import PolicyFactory
from tests.texts.servers import QUICK, ScriptedServer
from texts.models import LanguageModel

pytestmark = pytest.mark.django_db


def add(server: ScriptedServer, capsys: Any, *options: str) -> Any:
    call_command("add_model", "qwen-7b", "--kind", "text", "--url", server.url, "--json", *options)
    return json.loads(capsys.readouterr().out)


def test_it_lists_the_models_tries_one_answer_and_measures_it(server: ScriptedServer, capsys: Any) -> None:
    options = ["--name", "Qwen 7B", "--temperature", "0.2", "--system-prompt", "Be brief.", "--max-tokens", "99"]
    options += ["--extra-body", '{"repeat_penalty": 1.15}']
    told = add(server, capsys, "--served-name", "quick", *options)
    assert "slow" in told["listed"]
    assert (told["created"], told["answer"].strip(), told["tokens"]) == (True, QUICK, 11)
    assert told["first_token_ms"] >= 0
    assert told["tokens_per_s"] > 0
    row = LanguageModel.objects.get(pk="qwen-7b")
    assert (row.name, row.temperature, row.system_prompt, row.max_tokens) == ("Qwen 7B", 0.2, "Be brief.", 99)
    assert (row.status, row.kind, row.served_name) == (ContestantStatus.ACTIVE, "text", "quick")
    [request] = server.requests
    assert (request["repeat_penalty"], request["temperature"], request["stream"]) == (1.15, 0.2, True)


def test_adding_again_changes_what_is_named_and_keeps_the_rest(server: ScriptedServer, capsys: Any) -> None:
    add(server, capsys, "--served-name", "quick", "--temperature", "0.2")
    told = add(server, capsys, "--served-name", "quick", "--top-p", "0.5")
    row = LanguageModel.objects.get(pk="qwen-7b")
    assert (told["created"], row.temperature, row.top_p) == (False, 0.2, 0.5)


@pytest.mark.parametrize(
    ("options", "story"),
    [
        ([], "name one of"),
        (["--served-name", "nope"], "it lists: quick"),
        (["--served-name", "breaks-off"], "ended before"),
        (["--served-name", "empty"], "answers nothing"),
        (["--served-name", "quick", "--temperature", "9"], "temperature"),
        (["--served-name", "quick", "--key-variable", "ARENA_SECRET_KEY"], "key_variable"),
        (["--served-name", "quick", "--url", "http://10.0.0.1/v1"], "ARENA_TEXT_HOSTS"),
        (["--served-name", "quick", "--url", "http://127.0.0.1:9/v1"], "does not list"),
    ],
)
def test_what_does_not_answer_is_not_entered(
    server: ScriptedServer, capsys: Any, options: list[str], story: str
) -> None:
    with pytest.raises(CommandError, match=story):
        add(server, capsys, *options)
    assert not LanguageModel.objects.exists()


def test_the_contestant_of_another_kind_is_not_replaced(server: ScriptedServer, capsys: Any) -> None:
    PolicyFactory(id="qwen-7b")
    with pytest.raises(CommandError, match="of the kind robots"):
        add(server, capsys, "--served-name", "quick")
