#!/usr/bin/env bash
# Miri interprets tests and looks for undefined behaviour: on this machine's architecture the one
# table of the engines that asks the processor for memory by raw pointers, and what the banks of PI
# compute in vectors; the disciplines and TCP on one with the other order of bytes. Without a nightly
# compiler, or where the time does not suffice, this says so aloud.
set -euo pipefail
cd "$(dirname "$0")/.."
export RUSTUP_AUTO_INSTALL=0 MIRIFLAGS=-Zmiri-disable-isolation
# Not with make's job slots: cargo counts its own.
unset MAKEFLAGS MFLAGS
TARGET=${CARGO_TARGET_DIR:-target}
BIG_ENDIAN=s390x-unknown-linux-gnu

# The seconds at most, the crate, the options of cargo, and after -- those of the tests.
interpret() {
    local seconds=$1 crate=$2 code=0
    shift 2
    timeout --kill-after=10 "$seconds" cargo +nightly miri test --quiet --locked \
        --target-dir "$TARGET/miri" -p "sojourn-$crate" --lib "$@" || code=$?
    if [ "$code" = 124 ] || [ "$code" = 137 ]; then
        echo "!! MIRI: sojourn-$crate WAS NOT DONE AFTER $seconds s; THE REST IS NOT INTERPRETED." >&2
    elif [ "$code" != 0 ]; then
        exit "$code"
    fi
}

if ! cargo +nightly miri setup >/dev/null 2>&1; then
    echo "!! NO MIRI: NOTHING IS INTERPRETED. rustup toolchain install nightly -c miri -c rust-src" >&2
    exit 0
fi
# What draws hundreds of cases, or simulates seconds, would take hours.
interpret 600 packets wheel -- --skip binary_heap
# The vectors are AVX2's; Miri knows none of the assembly in libm's square root.
RUSTFLAGS=-Ctarget-feature=+avx2 interpret 400 qdisc --features libm/force-soft-floats -- bank::pass
interpret 420 qdisc --target "$BIG_ENDIAN" -- \
    integers pool ring power flow_queue turns sets chains tins overhead
interpret 420 tcp --target "$BIG_ENDIAN" -- segment receiver sender::rtt sender::prr sender::accecn
