#!/bin/sh
# Install the named Debian packages if permitted (as root, or by sudo without a password).
# Otherwise print the command to type, and fail. As root, no service of theirs is started.
if [ "$(id -u)" = 0 ]; then
  as_root=""
elif sudo -n true 2>/dev/null; then
  as_root="sudo"
else
  echo "These system packages are missing. Please type:" >&2
  echo >&2
  echo "    sudo apt-get update && sudo apt-get install -y --no-install-recommends $*" >&2
  echo >&2
  exit 1
fi
echo "installing system packages: $*"
policy=/usr/sbin/policy-rc.d
if [ -z "$as_root" ] && [ ! -e $policy ]; then
  printf '#!/bin/sh\nexit 101\n' >$policy
  chmod +x $policy
  trap 'rm -f $policy' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
if ! { $as_root apt-get update && $as_root apt-get install -y --no-install-recommends "$@"; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "could not install: $*; please type: sudo apt-get update && sudo apt-get install -y $*" >&2
  exit 1
fi
rm -f "$log"
