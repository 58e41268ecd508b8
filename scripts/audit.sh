#!/bin/bash
# Check all pinned packages for known vulnerabilities, by the advisories of PyPI and npm. Needs the network.
# Exits with 1 if something was found, and with 2 if something could not be checked.
set -u
cd "$(dirname "$0")/.."
audit=build/audit
unasked=() found=()

python_packages() {
  if [ ! -x $audit/bin/pip-audit ]; then
    if ! { .venv/bin/python -m venv $audit && $audit/bin/pip install --quiet pip-audit; }; then
      unasked+=("Python packages (pip-audit could not be installed)")
      return
    fi
  fi
  # It writes the table only after it has received an answer for every package.
  rm -f $audit/table
  $audit/bin/pip-audit --requirement requirements/constraints.txt --no-deps --disable-pip --output $audit/table && return
  if [ -s $audit/table ]; then
    cat $audit/table
    found+=("Python packages")
  else
    unasked+=("Python packages (their advisories could not be fetched)")
  fi
}

front_end_packages() {
  if ! (cd frontend && ../scripts/with_node.sh npm ping --silent >/dev/null 2>&1); then
    unasked+=("packages of the front end (npm's registry does not answer)")
    return
  fi
  (cd frontend && ../scripts/with_node.sh npm audit) || found+=("packages of the front end")
}

python_packages
front_end_packages
for what in ${unasked[@]+"${unasked[@]}"}; do echo "make audit: NOT CHECKED: $what"; done
for what in ${found[@]+"${found[@]}"}; do echo "make audit: vulnerable or not decidable, see above: $what"; done
((${#found[@]})) && exit 1
((${#unasked[@]})) && exit 2
echo "make audit: no known vulnerability"
