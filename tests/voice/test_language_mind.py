"""A language model as the mind of a cascade, against a server that speaks OpenAI's protocol."""

from __future__ import annotations

import pytest

from tests.ports import free_port
from tests.voice.calls import SCENARIOS, called
from tests.voice.model_server import NAME, ModelServer, call, model_server, words
from tests.voice.telegraph import TELEGRAPH
from voice.agents.base import AgentFailed, ToolCall
from voice.agents.language import LanguageModel, Server, reachable
from voice.agents.local import Cascade
from voice.agents.mind import ToolDesk

ORDER, HAIRCUT = SCENARIOS["order_status"], SCENARIOS["haircut"]
RIGHT = {"service": "haircut", "day": "Thursday", "time": "4 PM", "name": "Jordan Miller"}


async def answered(server: ModelServer, *said: str, tools: bool = True) -> tuple[list[str], list[ToolCall]]:
    """The sentences that come for these words of a caller, and the calls of tools."""
    calls: list[ToolCall] = []
    mind = LanguageModel(ORDER, Server(server.url, NAME, tools=tools))
    try:
        desk = ToolDesk(ORDER, calls.append)
        found = [sentence for each in said async for sentence in mind.reply(each, desk)]
    finally:
        await mind.close()
    return found, calls


async def test_an_answer_comes_sentence_by_sentence() -> None:
    with model_server(words("Your ord", "er is here. It c", "omes at 4 p.", "m. on Saturday", ". **Bye**.")) as server:
        found, _ = await answered(server, "Where is my order?")
    assert found == ["Your order is here.", "It comes at 4 p.m. on Saturday.", "Bye."]


async def test_the_model_is_told_what_every_agent_is_told_and_nothing_else() -> None:
    with model_server(words("Yes.")) as server:
        await answered(server, "Hello?")
    request = server.requests[0]
    assert request["messages"][0]["content"].startswith(ORDER.system_prompt)
    assert request["messages"][1:] == [
        {"role": "assistant", "content": ORDER.greeting},
        {"role": "user", "content": "Hello?"},
    ]
    assert [each["function"]["name"] for each in request["tools"]] == ["order_status", "end_call"]
    assert "Saturday" not in str(request)
    assert server.keys == ["Bearer s3cret"]


async def test_a_tool_is_called_and_its_result_told() -> None:
    with model_server(call("order_status", {"order": "a 7429"}), words("It comes on Saturday.")) as server:
        found, calls = await answered(server, "Where is it?")
    assert found == ["It comes on Saturday."]
    assert [(each.tool, each.arguments, each.done) for each in calls] == [("order_status", {"order": "A7429"}, True)]
    result = server.requests[1]["messages"][-1]
    assert result["role"] == "tool"
    assert "Saturday" in result["content"]


@pytest.mark.parametrize(
    ("deltas", "told"),
    [
        (call("look", {}), "There is no such tool; there are order_status"),
        (
            [{"tool_calls": [{"index": 0, "id": "x", "function": {"name": "order_status", "arguments": "{"}}]}],
            "no JSON",
        ),
        (call("order_status", ["A7429"]), "There is no such tool"),  # type: ignore[arg-type]
    ],
)
async def test_a_wrong_call_is_told_to_the_model(deltas: list[dict[str, object]], told: str) -> None:
    with model_server(deltas, words("Sorry.")) as server:
        found, calls = await answered(server, "Where is it?")
    assert (found, calls) == (["Sorry."], [])
    assert told in server.requests[1]["messages"][-1]["content"]


async def test_a_model_that_only_calls_tools_fails() -> None:
    scripts = [call("order_status", {"order": "A7429"})] * 4
    with model_server(*scripts) as server, pytest.raises(AgentFailed, match="4 times without an answer"):
        await answered(server, "Where is it?")


async def test_words_without_end_are_cut_off() -> None:
    with model_server(words(*["On and on. "] * 500)) as server:
        found, _ = await answered(server, "Hello?")
    assert sum(map(len, found)) < 700


async def test_without_functions_none_are_offered() -> None:
    with model_server(words("Yes.")) as server:
        await answered(server, "Hello?", tools=False)
    assert "tools" not in server.requests[0]


async def test_a_server_that_refuses_is_a_failure_with_a_story() -> None:
    with model_server() as server:
        server.status = 503
        with pytest.raises(AgentFailed, match="InternalServerError"):
            await answered(server, "Hello?")


async def test_whether_a_server_can_be_used_is_told_before_the_call() -> None:
    with model_server() as server:
        await reachable(Server(server.url, NAME))
        with pytest.raises(AgentFailed, match="no model 'other'; it has parrot-1"):
            await reachable(Server(server.url, "other"))
    with pytest.raises(AgentFailed, match="cannot be reached"):
        await reachable(Server(f"http://127.0.0.1:{free_port()}/v1", NAME))
    with pytest.raises(AgentFailed, match="ARENA_VOICE_MODEL_URL"):
        await reachable(Server("", NAME))


def test_a_whole_call_with_a_model() -> None:
    """The model asks, calls the tool and ends the call; the caller hears all of it."""
    scripts = [
        words("What time, and what is your name?"), words("And at what time?"),
        call("book_appointment", RIGHT), words("You have a haircut on Thursday at 4 p.m. Is there anything else?"),
        call("end_call", {}), words("Goodbye."),
    ]  # fmt: skip
    with model_server(*scripts) as server:
        agent = Cascade(TELEGRAPH, lambda scenario: LanguageModel(scenario, Server(server.url, NAME)))
        call_, transcript, metrics = called(HAIRCUT, agent, speed=20.0)
    assert call_.ended == "agent_hung_up", transcript.lines
    assert (metrics.joint_goal_accuracy, metrics.task_success, metrics.containment) == (1.0, True, True), (
        transcript.lines
    )
    heard = [each["content"] for each in server.requests[-1]["messages"] if each["role"] == "user"]
    assert heard[0] == HAIRCUT.caller.opening
