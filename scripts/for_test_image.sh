#!/bin/sh
# The Debian packages that `make test-image` needs, without starting their services.
set -eu
cd "$(dirname "$0")/.."
missing=""
for each in bubblewrap:bwrap nginx-light:nginx prometheus:promtool redis-server:redis-server; do
  command -v "${each#*:}" >/dev/null 2>&1 || [ -x "/usr/sbin/${each#*:}" ] || missing="$missing ${each%:*}"
done
[ -z "$missing" ] && exit 0
policy=/usr/sbin/policy-rc.d
if [ "$(id -u)" = 0 ] && [ ! -e $policy ]; then
  printf '#!/bin/sh\nexit 101\n' >$policy
  chmod +x $policy
  trap 'rm -f $policy' EXIT
fi
# shellcheck disable=SC2086
scripts/debian_packages.sh $missing
