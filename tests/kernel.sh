#!/usr/bin/env bash
# Sees to it that there is an emulator for the test of the kernel engine, or says aloud that there
# is none and that test will be skipped.
set -euo pipefail
command -v qemu-system-x86_64 >/dev/null && command -v tc >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "== installing qemu for the test of the kernel engine"
    export DEBIAN_FRONTEND=noninteractive
    if apt-get -qq update >/dev/null && apt-get -qq install --no-install-recommends qemu-system-x86 iproute2 >/dev/null 2>&1; then
        exit 0
    fi
fi
echo "!! NO QEMU: the test of the kernel engine WILL BE SKIPPED. Install qemu-system-x86 and iproute2." >&2
