#!/bin/sh
# Install Firefox and a sound device without hardware for the slow tests, unless they are there.
set -eu
cd "$(dirname "$0")/.."
missing=""
command -v firefox-esr >/dev/null 2>&1 || command -v firefox >/dev/null 2>&1 || missing="$missing firefox-esr"
command -v pulseaudio >/dev/null 2>&1 || missing="$missing pulseaudio"
command -v pacat >/dev/null 2>&1 || missing="$missing pulseaudio-utils"
[ -z "$missing" ] && exit 0
# shellcheck disable=SC2086
exec scripts/debian_packages.sh $missing
