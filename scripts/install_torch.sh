#!/bin/bash
# Install PyTorch into .venv in the version that requirements/locked/torch.txt pins, and the CUDA packages if its build
# needs them. The file is downloaded first, so that the file that is checked is the one that is installed.
#
# A file whose SHA-256 is not in that list can only come from another index or folder in pip's configuration. It is
# trusted, with a message. If TORCH_SHA256 is set, only the file with that SHA-256 is accepted.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python} locked=requirements/locked
pip="$python -m pip --disable-pip-version-check"
pin=$(grep -o '^torch==[^ ]*' $locked/torch.txt)

is_installed() { # in this version, and completely
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
if ! is_installed; then
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
# Only the builds for graphics cards require these packages.
if [ "$(uname)" = Linux ] && $python -c 'import sys; from importlib.metadata import requires; sys.exit("nvidia" not in str(requires("torch")))'; then
  $pip install --quiet --no-deps --require-hashes -r $locked/cuda.txt
fi
