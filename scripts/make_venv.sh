#!/bin/sh
# Create the virtual environment .venv, unless there is a working one.
set -e
cd "$(dirname "$0")/.."
if .venv/bin/python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null &&
  .venv/bin/python -m pip --version >/dev/null 2>&1; then
  exit 0
fi
python=$(scripts/find_python.sh)
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  scripts/debian_packages.sh "python$version-venv"
fi
rm -rf .venv
echo "making .venv with $("$python" --version)"
"$python" -m venv .venv
