#!/bin/sh
# Print the path of a supported Python, preferring 3.11, then 3.12, then 3.13.
for name in ${PYTHON:-python3.11 python3.12 python3.13 python3}; do
  path=$(command -v "$name" 2>/dev/null) || continue
  if "$path" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
    echo "$path"
    exit 0
  fi
done
echo "VLA Arena needs Python 3.11, 3.12 or 3.13, and none was found." >&2
echo "Install one, for example: sudo apt-get install python3 python3-venv" >&2
echo "or say where it is: make run PYTHON=/path/to/python3.11" >&2
exit 1
