#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The pictures of the documents, from the real window: resources/scripts/make_screenshots.sh [BUILD]
# Needs a built viewer; the bundled runs are what it shows. Together they stay below 1 MB.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
build="$(realpath "${1:-$root/build/release}")"
images="$root/resources/docs/images"
export QT_QPA_PLATFORM=offscreen

# The window remembers itself; pictures start from nothing.
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
export XDG_CONFIG_HOME="$scratch" XDG_CACHE_HOME="$scratch" XDG_DATA_HOME="$scratch"

# picture NAME ARGUMENTS...: paths are relative to the bundled runs, so that no picture shows a folder of one machine.
picture() {
    local name="$1"
    shift
    (cd "$root/resources/samples" && "$build/forkpoint" --screenshot "$images/$name.png" --size 1280x800 "$@")
}

mkdir -p "$images"
picture main-window --theme light --select grad.embed_tokens.weight captures/A captures/C
picture where --theme light --step 12 --select model.layers.0.fc1.weight --show where A C

total="$(cat "$images"/*.png | wc -c)"
echo "$total bytes of pictures in resources/docs/images"
[ "$total" -le 1000000 ]
