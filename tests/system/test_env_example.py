"""`.env.example` names every variable that the arena reads, with its default, and none that it does not."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.stack import BASE_DIR
from tests.system.test_settings import run_with

READERS = {"text", "flag", "number", "words", "rates", "choice", "networks", "count", "moment"}
ROOMS = ("vlaarena", "arena", "policies", "rankings", "simulation")


def read_by_the_code() -> Iterator[str]:
    for path in (path for room in ROOMS for path in (BASE_DIR / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            called = node.func if isinstance(node, ast.Call) and node.args else None
            if isinstance(called, ast.Attribute) and called.attr in READERS and isinstance(called.value, ast.Name):
                name = node.args[0]  # type: ignore[attr-defined]
                if called.value.id == "env" and isinstance(name, ast.Constant):
                    yield str(name.value)


def read_by_compose() -> set[str]:
    return set(re.findall(r"\$\{([A-Z_]+)", (BASE_DIR / "compose.yaml").read_text()))


def set_by_compose() -> set[str]:
    services = yaml.safe_load((BASE_DIR / "compose.yaml").read_text())["services"]
    ours = [service["environment"] for service in services.values() if service.get("image") == "vla-arena"]
    return {name for environment in ours for name in environment}


def example() -> dict[str, str]:
    lines = re.findall(r"^#?([A-Z][A-Z_]+)=(.*)$", (BASE_DIR / ".env.example").read_text(), re.MULTILINE)
    assert len(lines) == len({name for name, _ in lines}), "a variable is named twice"
    return dict(lines)


def test_every_variable_is_in_the_example_and_no_other() -> None:
    assert set(example()) == set(read_by_the_code()) | read_by_compose()


def test_compose_sets_only_variables_that_the_arena_reads() -> None:
    assert set_by_compose() <= set(read_by_the_code())


NO_DEFAULTS = {
    # Examples of servers, and what belongs to the place where it runs.
    *("DATABASE_URL", "MONGO_URL", "BROKER_URL", "CHANNEL_URL", "CACHE_URL", "MONGO_DATABASE"),
    *("ARENA_DATA", "ARENA_SCENES", "ARENA_STATIC", "ARENA_SECRET_KEY", "ARENA_HSTS_S"),
    *("EMAIL_URL", "ARENA_EMAIL_FROM"),
}
SHOW = """
import json
from vlaarena import settings
kept = {name: value for name, value in vars(settings).items() if name.isupper() and not callable(value)}
print(json.dumps(kept, default=lambda value: str(value).partition(" at 0x")[0], sort_keys=True))
"""


def test_what_the_example_calls_defaults_are_the_defaults(tmp_path: Path) -> None:
    of_compose = read_by_compose() - set(read_by_the_code())
    given = {name: value for name, value in example().items() if name not in NO_DEFAULTS | of_compose}
    with_them, without = run_with(tmp_path, SHOW, **given), run_with(tmp_path, SHOW)
    assert without.returncode == 0, without.stderr
    assert json.loads(with_them.stdout) == json.loads(without.stdout)


@pytest.mark.parametrize("name", ["ARENA_SECRET_KEY", "POSTGRES_PASSWORD", "MONGO_PASSWORD", "VALKEY_PASSWORD"])
def test_the_example_holds_no_secret_that_somebody_could_leave_as_it_is(name: str) -> None:
    assert example()[name] == ""
