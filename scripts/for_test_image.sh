#!/bin/sh
# The Debian packages that `make test-image` needs.
set -eu
cd "$(dirname "$0")/.."
missing=""
for each in bubblewrap:bwrap nginx-light:nginx prometheus:promtool redis-server:redis-server; do
  command -v "${each#*:}" >/dev/null 2>&1 || [ -x "/usr/sbin/${each#*:}" ] || missing="$missing ${each%:*}"
done
[ -z "$missing" ] && exit 0
# shellcheck disable=SC2086
exec scripts/debian_packages.sh $missing
