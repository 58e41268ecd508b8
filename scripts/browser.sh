#!/bin/sh
# Install the browser for the tests, unless there is one.
cd "$(dirname "$0")/.." || exit 1
for name in chromium chromium-browser google-chrome; do
  command -v "$name" >/dev/null 2>&1 && exit 0
done
exec scripts/debian_packages.sh chromium
