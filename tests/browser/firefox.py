"""Firefox as it is shipped, steered by its own WebDriver BiDi: Playwright steers only a build of its own."""

from __future__ import annotations

import base64
import itertools
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

NAMES = ("firefox-esr", "firefox")
LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
STARTS_S = 120.0
PREFERENCES: Mapping[str, Any] = {
    "app.update.auto": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "media.navigator.permission.disabled": True,  # the microphone is given without a question
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "toolkit.telemetry.enabled": False,
}


class Firefox:
    """One page of one Firefox."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._ids = socket, itertools.count(1)
        self._ask("session.new", capabilities={"alwaysMatch": {"acceptInsecureCerts": True}})
        self._page = self._ask("browsingContext.getTree")["contexts"][0]["context"]

    def open(self, url: str) -> None:
        self._ask("browsingContext.navigate", context=self._page, url=url, wait="complete")

    def resize(self, width: int, height: int) -> None:
        self._ask("browsingContext.setViewport", context=self._page, viewport={"width": width, "height": height})

    def run(self, expression: str) -> Any:
        """The value of an expression of JavaScript, awaited, as of something that the visitor has just done."""
        answer = self._ask(
            "script.evaluate",
            expression=f"(async () => JSON.stringify(await ({expression})))()",
            target={"context": self._page},
            awaitPromise=True,
            userActivation=True,
        )
        if answer["type"] != "success":
            raise AssertionError(f"{expression}: {answer['exceptionDetails']['text']}")
        return json.loads(answer["result"].get("value", "null"))

    def wait(self, expression: str, seconds: float = 240.0) -> None:
        """Until it is true."""
        deadline = time.monotonic() + seconds
        while not self.run(expression):
            assert time.monotonic() < deadline, f"not so after {seconds:g} s: {expression}"
            time.sleep(0.2)

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.innerText)")
        return found

    def click(self, selector: str) -> None:
        """The middle of an element, with the mouse."""
        quoted = json.dumps(selector)
        self.wait(f"document.querySelector({quoted})?.checkVisibility() && !document.querySelector({quoted}).disabled")
        self.run(f"document.querySelector({quoted}).scrollIntoView({{ block: 'center', behavior: 'instant' }})")
        box = f"document.querySelector({quoted}).getBoundingClientRect()"
        x, y = self.run(f"[{box}.x + {box}.width / 2, {box}.y + {box}.height / 2]")
        steps = [{"type": "pointerMove", "x": round(x), "y": round(y)}]
        steps += [{"type": f"pointer{how}", "button": 0} for how in ("Down", "Up")]
        source = {"type": "pointer", "id": "mouse", "actions": steps}
        self._ask("input.performActions", context=self._page, actions=[source])

    def picture(self, path: Path) -> None:
        """A screenshot as PNG."""
        taken = self._ask("browsingContext.captureScreenshot", context=self._page, origin="document")
        path.write_bytes(base64.b64decode(taken["data"]))

    def _ask(self, method: str, **parameters: Any) -> Any:
        number = next(self._ids)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == number:
                break
        if answer["type"] == "error":
            raise AssertionError(f"{method}: {answer['error']}: {answer['message']}")
        return answer["result"]


@contextmanager
def firefox(folder: Path, **environment: str) -> Iterator[Firefox]:
    """A new one with a profile in `folder`."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    assert found, "no Firefox here; run: scripts/for_test_slow.sh"
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()]
    (folder / "user.js").write_text("".join(lines))
    process = subprocess.Popen(
        [found, "--headless", "--no-remote", "--profile", str(folder), "--remote-debugging-port", "0"],
        env={**os.environ, "HOME": str(folder), "MOZ_CRASHREPORTER_DISABLE": "1", **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    try:
        with connect(f"{_address(process)}/session", max_size=None, open_timeout=STARTS_S) as socket:
            yield Firefox(socket)
    finally:
        process.terminate()
        process.communicate(timeout=60)


def _address(process: subprocess.Popen[str]) -> str:
    said = []
    assert process.stderr is not None
    for line in process.stderr:
        said.append(line)
        if found := LISTENS.search(line):
            return found[1]
    raise AssertionError("Firefox ended at its start:\n" + "".join(said[-20:]))
