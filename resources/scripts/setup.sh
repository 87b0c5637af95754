# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # sourced: variables come from and go to the script that does
# Sourced by ./run, ./test and .ci/run: Debian's packages, one build tree, quiet steps.
# Expects `root` (the source folder); sets `build`.

build="$root/build/release"
logs="$root/build/logs"

build_packages="g++ cmake ninja-build zlib1g-dev libzstd-dev libssl-dev nlohmann-json3-dev libcli11-dev libhdf5-dev
    libbz2-dev libaec-dev libre2-dev"
viewer_packages="qt6-base-dev qt6-svg-dev libqcustomplot-dev"
package_packages="dpkg-dev desktop-file-utils appstream shared-mime-info man-db groff-base"
test_packages="python3 python3-h5py python3-numpy python3-xxhash xxhash libxxhash-dev pkg-config"

say() { printf '%s\n' "$*"; }

# quietly NAME COMMAND...: the output goes to a log, which is shown only if the command fails.
quietly() {
    local log="$logs/$1.log"
    shift
    mkdir -p "$logs"
    if ! "$@" >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        say "failed: $*" >&2
        return 1
    fi
}

installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

apt_install() {
    export DEBIAN_FRONTEND=noninteractive
    local install=(apt-get install -y -q --no-install-recommends -o Dpkg::Use-Pty=0)
    # The package lists may be absent or old: ask for new ones only where the first try fails.
    "${install[@]}" "$@" >"$logs/apt.log" 2>&1 </dev/null && return 0
    quietly apt-update apt-get update -q && quietly apt "${install[@]}" "$@"
}

# require PACKAGES...: installs what is missing as root; otherwise names the one command and stops.
require() {
    local missing=() package
    if ! command -v dpkg-query >/dev/null; then
        say "this is no Debian: if the build stops, install what corresponds to: $*" >&2
        return 0
    fi
    for package in "$@"; do
        # pkgconf provides pkg-config in newer releases
        installed "$package" || { [ "$package" = pkg-config ] && installed pkgconf; } || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    if [ "$(id -u)" -ne 0 ]; then
        say "some packages are missing; install them and start again:" >&2
        say "    sudo apt install --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
    say "installing: ${missing[*]}"
    mkdir -p "$logs"
    apt_install "${missing[@]}"
}

# Relative paths, so that another clone or another tree with the same flags finds the same objects.
use_ccache() {
    if command -v ccache >/dev/null; then
        export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1
    fi
}

# configure PRESET [OPTIONS...]
configure() {
    local preset="$1"
    shift
    use_ccache
    quietly "configure-$preset" cmake -S "$root" --preset "$preset" "$@"
}

# After configuring: says so where the kernels are built for the processor alone.
say_cuda() {
    if ! grep -q '^CMAKE_CUDA_COMPILER:[^=]*=/' "$build/CMakeCache.txt"; then
        say "nvcc is not here: building without CUDA"
    fi
}
