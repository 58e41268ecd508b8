#!/bin/bash
# Everything that can be said about the code without running it.
set -u
cd "$(dirname "$0")/.."
failed=()
step() {
  local name=$1 log
  shift
  log=$(mktemp)
  if "$@" >"$log" 2>&1; then
    echo "ok      $name"
  else
    echo "FAILED  $name"
    cat "$log"
    failed+=("$name")
  fi
  rm -f "$log"
}
scripts_parse() {
  find frontend -path '*/node_modules' -prune -o \( -name '*.js' -o -name '*.mjs' \) -print0 |
    scripts/with_node.sh xargs -0 -n 1 node --check
}
no_addresses_in_lock() { ! grep -n '"resolved"' frontend/package-lock.json; }

bin=.venv/bin
step "lint" $bin/ruff check .
step "format" $bin/ruff format --check .
step "types" $bin/mypy
step "import contracts" $bin/lint-imports
step "migrations" $bin/python manage.py makemigrations --check --dry-run
step "API description" $bin/python manage.py spectacular --validate --fail-on-warn --file /dev/null
step "scripts parse" scripts_parse
step "lock file names no registry" no_addresses_in_lock

if ((${#failed[@]})); then
  echo "make check: ${#failed[@]} failed: ${failed[*]}"
  exit 1
fi
echo "make check: all is well"
