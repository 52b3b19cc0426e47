#!/usr/bin/env bash
# Installs what some tests need beside Rust and Python, where it can (as root, with apt) and may, or
# says aloud which tests will be skipped. It says before what it installs; SYSTEM_PACKAGES=no forbids
# it. `tools.sh` serves `make test`, `tools.sh long` what boots kernels in `make test-long`.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
updated=

have() {
    for program in "$@"; do
        command -v "$program" >/dev/null || return 1
    done
}

chromium() {
    have chromedriver && { have chromium || have chromium-browser || have google-chrome; }
}

compiler() {
    { have clang || have clang-19; } && [ -e /usr/include/bpf/bpf_helpers.h ] && have ip tc
}

hardware() {
    have verilator yosys make c++
}

emulator() {
    have qemu-system-x86_64 ip tc
}

guests() {
    emulator && compiler && have clang-19 bpftool iperf3 ethtool
}

counter() {
    have valgrind
}

packer() {
    have zopfli
}

other_architecture() {
    have aarch64-linux-gnu-gcc qemu-aarch64 && [ -e /usr/aarch64-linux-gnu/lib/libc.so.6 ]
}

# What the packages are for, how to see that they are there, and their names.
need() {
    local what=$1 there=$2
    shift 2
    if "$there"; then return; fi
    if [ "${SYSTEM_PACKAGES:-yes}" != no ] && [ "$(id -u)" = 0 ] &&
        command -v apt-get >/dev/null; then
        echo "== installing as root, with apt-get: $* (SYSTEM_PACKAGES=no forbids it)"
        [ -n "$updated" ] || apt-get -qq update >/dev/null 2>&1 || true
        updated=yes
        apt-get -qq install --no-install-recommends "$@" >/dev/null 2>&1 || true
    fi
    "$there" || echo "!! NO $there: $what WILL BE SKIPPED. Install $*." >&2
}

case "${1:-}" in
    "")
        need "THE TESTS IN A BROWSER" chromium chromium chromium-driver
        need "CONGESTION CONTROLS IN BPF" compiler clang-19 libbpf-dev iproute2
        need "THE TESTS OF HARDWARE" hardware verilator yosys make g++
        ;;
    long)
        need "THE TESTS THAT BOOT A KERNEL" emulator qemu-system-x86 iproute2
        need "THE TESTS OF LAWS IN BPF" guests clang-19 bpftool libbpf-dev iperf3 ethtool
        need "THE COUNTS OF INSTRUCTIONS" counter valgrind
        need "THE SIZE OF THE MODULE FOR BROWSERS" packer zopfli
        need "THE GOLDEN RUNS ON AARCH64" other_architecture \
            qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross
        "$(dirname "$0")/bpf.sh"
        ;;
esac
