#!/usr/bin/env bash
# AddressSanitizer watches every access to memory of the extension and of the router, while tests
# run scenarios of all kinds and attack the router. Without a nightly compiler or GCC's library of
# the sanitizer, or where the time does not suffice, this says so aloud.
set -euo pipefail
cd "$(dirname "$0")/.."
export RUSTUP_AUTO_INSTALL=0
# Not with make's job slots: cargo counts its own.
unset MAKEFLAGS MFLAGS
readonly machine=x86_64-unknown-linux-gnu
TARGET=${CARGO_TARGET_DIR:-target}/asan
PYTEST=$PWD/.venv/bin/pytest
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

absent() {
    echo "!! NO ADDRESSSANITIZER: $1" >&2
    exit 0
}

[ "$(uname -sm)" = "Linux x86_64" ] || absent "the tests of it are for Linux on x86-64."
cargo +nightly --version >/dev/null 2>&1 || absent "rustup toolchain install nightly"
# Python itself is not instrumented: the library has to be there before the extension.
library=$(${CC:-cc} -print-file-name=libasan.so)
[ -e "$library" ] || absent "Install gcc."

code=0
export PYO3_PYTHON=$PWD/.venv/bin/python PYO3_BUILD_EXTENSION_MODULE=1
# What runs is short, compiling is long: optimised less than the other tests, and libraries not.
export CARGO_PROFILE_QUICK_OPT_LEVEL=1
readonly libraries='profile.quick.package."*".opt-level=0'
RUSTFLAGS=-Zsanitizer=address timeout 720 cargo +nightly build --locked --quiet \
    --profile quick --config "$libraries" --target "$machine" --target-dir "$TARGET" \
    -p sojourn-python -p sojourn-router --no-default-features || code=$?
[ "$code" != 124 ] || absent "not compiled after 720 s."
[ "$code" = 0 ] || exit "$code"
built=$TARGET/$machine/quick

# Its own report is the last word of a process; what is not freed at the end of one is no fault.
export ASAN_OPTIONS=detect_leaks=0:halt_on_error=1:abort_on_error=1
cp -r python/sojourn "$place"
install -m 755 "$built/lib_engine.so" "$place/sojourn/_engine.abi3.so"
watched() {
    PYTHONPATH=$place "$@"
}
# That the extension is watched, and not the other one.
watched env LD_PRELOAD="$library" .venv/bin/python - "$place" <<'END'
import sys
import sojourn._engine
assert "asan" in open("/proc/self/maps").read()
assert sojourn._engine.__file__.startswith(sys.argv[1]), sojourn._engine.__file__
END
echo "== AddressSanitizer, the extension"
watched env LD_PRELOAD="$library" "$PYTEST" -p no:cacheprovider -m "not alone and not long" \
    tests/test_stepping.py tests/test_random_scenarios.py tests/test_vectors.py
if [ "$(id -u)" = 0 ] && [ -e /dev/net/tun ]; then
    echo "== AddressSanitizer, the router"
    SOJOURN_ROUTER=$PWD/$built/sojourn-router "$PYTEST" -p no:cacheprovider \
        -m "not alone and not long" tests/test_router.py tests/test_router_attacks.py
else
    echo "!! NO ROOT: THE ROUTER UNDER ADDRESSSANITIZER IS SKIPPED." >&2
fi
