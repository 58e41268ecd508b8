#!/bin/sh
# Install the library that renders camera images without a screen or a graphics card, unless it is there.
cd "$(dirname "$0")/.." || exit 1
.venv/bin/python -c 'import ctypes.util, sys; sys.exit(ctypes.util.find_library("OSMesa") is None)' ||
  exec scripts/debian_packages.sh libosmesa6
