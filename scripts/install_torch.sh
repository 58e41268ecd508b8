#!/bin/bash
# Install PyTorch into .venv as requirements/locked/torch.txt pins it, and what it needs of graphics cards where it is built
# for them. The file is fetched first, and the one that was looked at is the one that is installed.
#
# A file whose SHA-256 is not in that list can only come from an index or folder that pip was told of besides PyPI; it is
# taken on that index's word, and this is said. TORCH_SHA256 names the only one to be taken instead.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python} locked=requirements/locked
pip="$python -m pip --disable-pip-version-check"
pin=$(grep -o '^torch==[^ ]*' $locked/torch.txt)

is_there() { # this version, and whole
  $python - "${pin#torch==}" <<'CODE'
import sys
from importlib.metadata import PackageNotFoundError, version
try:
    sys.exit(version("torch").partition("+")[0] != sys.argv[1])
except PackageNotFoundError:
    sys.exit(1)
CODE
}

fetched=$(mktemp -d)
trap 'rm -rf "$fetched"' EXIT
if ! is_there; then
  $pip download --quiet --no-deps --dest "$fetched" "$pin"
  file=$(echo "$fetched"/torch-*)
  found=$(sha256sum "$file" | cut -d' ' -f1)
  if [ -n "${TORCH_SHA256:-}" ]; then
    if [ "$found" != "$TORCH_SHA256" ]; then
      echo "PyTorch: ${file##*/} has the SHA-256 $found, and TORCH_SHA256 wants $TORCH_SHA256" >&2
      exit 1
    fi
  elif ! grep -q "sha256:$found" $locked/torch.txt; then
    echo "PyTorch: ${file##*/} is not among the known files. To take no other from now on: TORCH_SHA256=$found" >&2
  fi
  $pip install --quiet --no-deps "$file"
fi
# Only the builds for graphics cards ask for these packages.
if [ "$(uname)" = Linux ] && $python -c 'import sys; from importlib.metadata import requires; sys.exit("nvidia" not in str(requires("torch")))'; then
  $pip install --quiet --no-deps --require-hashes -r $locked/cuda.txt
fi
