"""Serves a language model on loopback: `python -I language_server.py MODEL NAME PORT KEY_FILE`, until it is ended.

llama.cpp's own server with one thread: two on a busy machine of two cores are twenty times slower than one. The script
is run by path and imports nothing of the project.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

PARALLEL = 2
"""Answers at once: the two sides of a battle come side by side."""
CONTEXT = 4096
"""Tokens of each."""
IDLE_S = 120
"""After so many seconds without a question the server frees weights and context, 280 MB. The next question waits until
it has read them again; asking what is served wakes nothing."""
ENDS = {signal.SIGTERM, signal.SIGINT}


def main(model: str, name: str, port: int, key_file: Path) -> None:
    import xllamacpp

    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # in the server's threads, too
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {name}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.api_keys = [key_file.read_text()]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    # Read, not mapped: the file's pages would be held beside the weights that are repacked for the processor.
    params.load_mode = xllamacpp.llama_load_mode.LLAMA_LOAD_MODE_NONE
    params.n_ctx, params.n_parallel, params.n_threads_http = CONTEXT * PARALLEL, PARALLEL, 32
    params.endpoint_slots = params.ui = False  # slots would show what visitors wrote
    params.cache_ram_mib = 64
    params.sleep_idle_seconds = IDLE_S
    params.verbosity = 1
    server = xllamacpp.Server(params)
    print(f"{name} is served at {server.listening_address}", flush=True)
    signal.sigwait(ENDS)
    os._exit(0)  # nothing is to be saved, and answers under way would hold up the end


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
