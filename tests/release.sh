#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Tests on another release of Debian: makes a bare root of it in FOLDER, unless there is one, copies this checkout into it,
# and runs a command there, ./bootstrap test for example, which then installs what it needs. Packages come from where this
# machine's apt has Debian's own. Needs root and the package mmdebstrap. Mounts end with the command, whatever ends it.
#     sh tests/release.sh trixie build-13 ./bootstrap test          # Debian 13
#     sh tests/release.sh forky build-testing ./bootstrap demo
#     rm -rf --one-file-system build-13                             # when it is no longer of use
# Usage: release.sh SUITE FOLDER COMMAND [ARGUMENT...]
set -eu
[ $# -ge 3 ] || { echo "usage: release.sh SUITE FOLDER COMMAND [ARGUMENT...]" >&2; exit 2; }
suite=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
root=$folder/root
shift 2
source=$(cd "$(dirname "$0")/.." && pwd)
[ "$(id -u)" -eq 0 ] || { echo "release.sh: only root can make a root of $suite" >&2; exit 1; }
command -v mmdebstrap >/dev/null || { echo "release.sh: install mmdebstrap" >&2; exit 1; }

if [ ! -e "$folder/made" ]; then
    packages=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' | sed -n 's/^Debian //p' | head -n 1)
    [ -n "$packages" ] || { echo "release.sh: apt has no source of Debian's packages here" >&2; exit 1; }
    # With this machine's proxies, if any, and without waiting for the disk.
    apt-config dump | grep -E '^Acquire::(http|https|Check|Retries)' >"$folder/apt.conf" || :
    mmdebstrap --mode=root --variant=minbase --include=ca-certificates --aptopt="$folder/apt.conf" \
        --dpkgopt=force-unsafe-io "$suite" "$root" "deb $packages $suite main" >"$folder/log" 2>&1 || {
        tail -n 5 "$folder/log" >&2
        echo "release.sh: no root of $suite can be made from $packages" >&2
        exit 1
    }
    touch "$folder/made"
fi
cp /etc/resolv.conf /etc/hosts "$root/etc/"
mkdir -p "$root/gpume"
(cd "$source" && tar -c --exclude=./.git --exclude='./build*' .) | tar -x -C "$root/gpume"

# A separate namespace for mounts and processes: both end with this command, whatever ends it.
exec unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" sh -c '
    root=$1
    shift
    mount --rbind /dev "$root/dev"
    mount --rbind /sys "$root/sys"
    exec chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        $(env | grep "^GPUME_TEST_" || :) sh -c "cd /gpume && exec \"\$@\"" sh "$@"' sh "$root" "$@"
