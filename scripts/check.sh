#!/bin/bash
# All static checks of the code, in parallel.
set -u
cd "$(dirname "$0")/.."
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
names=() jobs=()
step() {
  names+=("$1")
  "${@:2}" >"$logs/${#names[@]}" 2>&1 &
  jobs+=($!)
}
front_end() { (cd frontend && ../scripts/with_node.sh npm run --silent "$1"); }
no_addresses_in_lock() { ! grep -n '"resolved"' frontend/package-lock.json; }
deployment() {
  ARENA_HTTPS=yes ARENA_PROXIES=1 ARENA_HOSTS=arena.example.org ARENA_SECRET_KEY="$($bin/python -c 'import secrets; print(secrets.token_urlsafe(48))')" \
    $bin/python manage.py check --deploy --fail-level WARNING
}

bin=.venv/bin
step "types" $bin/mypy
step "lint" $bin/ruff check .
step "format" $bin/ruff format --check .
step "import contracts" $bin/lint-imports
step "migrations" $bin/python manage.py makemigrations --check --dry-run
step "API description" $bin/python manage.py spectacular --validate --fail-on-warn --file /dev/null
step "deployment" deployment
step "Dockerfile" $bin/hadolint Dockerfile
step "compose.yaml" $bin/check-jsonschema --builtin-schema vendor.compose-spec compose.yaml
step "scripts: lint" front_end lint
step "scripts: types" front_end types
step "scripts: shapes of the API" $bin/python scripts/wire_types.py --check
step "lock file names no registry" no_addresses_in_lock

failed=()
for ((i = 0; i < ${#jobs[@]}; i++)); do
  if wait "${jobs[$i]}"; then
    echo "ok      ${names[$i]}"
  else
    echo "FAILED  ${names[$i]}"
    cat "$logs/$((i + 1))"
    failed+=("${names[$i]}")
  fi
done
if ((${#failed[@]})); then
  echo "make check: ${#failed[@]} failed: ${failed[*]}"
  exit 1
fi
echo "make check: all is well"
