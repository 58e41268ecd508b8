#!/bin/sh
# The Debian packages that `make test-slow` needs: Firefox, a sound device without hardware, and both reverse proxies.
set -eu
cd "$(dirname "$0")/.."
missing=""
for each in firefox-esr:firefox-esr pulseaudio:pulseaudio pulseaudio-utils:pacat nginx-light:nginx caddy:caddy; do
  command -v "${each#*:}" >/dev/null 2>&1 || [ -x "/usr/sbin/${each#*:}" ] || missing="$missing ${each%:*}"
done
[ -z "$missing" ] && exit 0
# shellcheck disable=SC2086
exec scripts/debian_packages.sh $missing
