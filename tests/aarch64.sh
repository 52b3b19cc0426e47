#!/usr/bin/env bash
# The golden runs on another architecture: compiled for aarch64, run by qemu's emulation of a
# processor. The same integers must come out, fused and unfused. Without a cross compiler, Rust's
# library for aarch64 or qemu-user, this says so aloud.
set -euo pipefail
cd "$(dirname "$0")/.."
# Not with make's job slots: cargo counts its own.
unset MAKEFLAGS MFLAGS
readonly machine=aarch64-unknown-linux-gnu linker=aarch64-linux-gnu-gcc
readonly root=/usr/aarch64-linux-gnu

absent() {
    echo "!! NO AARCH64: THE GOLDEN RUNS ON ANOTHER ARCHITECTURE ARE SKIPPED. $1" >&2
    exit 0
}

if [ ! -e "$(rustc --print sysroot)/lib/rustlib/$machine/lib" ]; then
    command -v rustup >/dev/null && rustup -q target add "$machine" >/dev/null 2>&1 ||
        absent "rustup target add $machine"
fi
for program in "$linker" qemu-aarch64; do
    command -v "$program" >/dev/null || absent "Install $linker, libc6-dev-arm64-cross and qemu-user."
done
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$linker
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L $root"
told=$(mktemp)
trap 'rm -f "$told"' EXIT
cargo test --locked --quiet --profile quick --target "$machine" \
    -p sojourn-packets --all-features --test it golden | tee "$told"
# A name that no test has would pass as well.
grep -q '^test result: ok\. [1-9]' "$told"
