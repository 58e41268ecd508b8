"""A sound device without hardware: PulseAudio with a loudspeaker that can be recorded and a microphone that can be
spoken into. Without any device Firefox's AudioContext never starts."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.stack import wait_until
from voice.speech.audio import RATE

DEVICES = """\
load-module module-native-protocol-unix auth-anonymous=1 socket={socket}
load-module module-null-sink sink_name=loudspeaker
load-module module-null-sink sink_name=caller
load-module module-remap-source source_name=microphone master=caller.monitor source_properties=device.description=Caller
set-default-sink loudspeaker
set-default-source microphone
"""
FORM = ("--raw", "--format=s16le", f"--rate={RATE}", "--channels=1", "--latency-msec=50")


class SoundCard:
    def __init__(self, socket: Path) -> None:
        self.environment = {"PULSE_SERVER": f"unix:{socket}"}

    def say(self, audio: bytes) -> None:
        """Speak s16le, 16 kHz, mono into the microphone, and wait until it was said."""
        command = [_found("pacat"), "--playback", "--device=caller", *FORM]
        subprocess.run(command, input=audio, env=self.environment, check=True, timeout=120)

    @contextmanager
    def recorded(self, path: Path) -> Iterator[None]:
        """Meanwhile what the loudspeaker plays goes into this file, as s16le, 16 kHz, mono."""
        command = [_found("pacat"), "--record", "--device=loudspeaker.monitor", *FORM]
        with path.open("wb") as file:
            process = subprocess.Popen(command, stdout=file, env=self.environment)
            try:
                yield
            finally:
                process.terminate()
                process.wait(30)


@contextmanager
def sound_card(folder: Path) -> Iterator[SoundCard]:
    socket = folder / "native"
    (folder / "default.pa").write_text(DEVICES.format(socket=socket))
    command = [_found("pulseaudio"), "-n", "--file", str(folder / "default.pa"), "--exit-idle-time=-1"]
    with (folder / "log").open("wb") as log:
        own = {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "PATH": "/usr/bin:/bin"}
        process = subprocess.Popen([*command, "--daemonize=no"], env=own, stdout=log, stderr=log)
    try:
        wait_until(lambda: socket.exists() or process.poll() is not None, 60)
        assert process.poll() is None, (folder / "log").read_text()
        yield SoundCard(socket)
    finally:
        process.terminate()
        process.wait(30)


def _found(name: str) -> str:
    found = shutil.which(name)
    assert found, f"no {name} here; run: scripts/for_test_slow.sh"
    return found
