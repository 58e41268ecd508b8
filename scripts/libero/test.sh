#!/bin/bash
# `make test-libero`: what needs LIBERO's scenes and robosuite. Says why it cannot run where they are not.
set -eu
cd "$(dirname "$0")/../.."
place=build/libero
if [ ! -f "$place/assets/libero.sha256" ] || [ ! -x "$place/venv/bin/python" ]; then
  echo "make test-libero: LIBERO is not installed here; run: make libero (it says so where its packages cannot be reached)"
  exit 1
fi
if [ ! -s "$place/reference.json" ]; then
  echo "playing 100 random actions with robosuite's controller"
  "$place/venv/bin/python" scripts/libero/reference.py "$place/reference.json" 2>"$place/reference.log" || {
    tail -3 "$place/reference.log"
    echo "make test-libero: robosuite does not play; the whole message is in $place/reference.log"
    exit 1
  }
fi
export ARENA_LIBERO="$PWD/$place/assets"
.venv/bin/python manage.py build_scenes
exec .venv/bin/python -m pytest tests/libero "$@"
