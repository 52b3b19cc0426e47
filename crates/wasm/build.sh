#!/usr/bin/env bash
# Builds the engines for WebAssembly into target/browser: sojourn.wasm, the same in gzip's format,
# and its JavaScript.
#
# Rust's standard library for WebAssembly comes by rustup. Without rustup, or without a network, it
# is compiled from its sources if they are there (the component rust-src; rust-src of a
# distribution). node and npm, if they are there, get wasm-opt, which makes the module smaller, and
# zopfli, if it is installed, packs it more tightly than gzip.
set -euo pipefail
cd "$(dirname "$0")/../.."
# Not with make's job slots: cargo counts its own.
unset MAKEFLAGS MFLAGS

TARGET=wasm32-unknown-unknown
BINARYEN=132.0.0
built=${CARGO_TARGET_DIR:-target}
out=$built/browser
tools=.tools/binaryen

missing() {
    echo "make wasm: $1" >&2
    exit 1
}

command -v cargo >/dev/null || missing "cargo is missing; install Rust"
rustc=${RUSTC:-rustc}
sysroot=$("$rustc" --print sysroot)
host=$("$rustc" -vV | sed -n 's/^host: //p')
options=()

# Where rustup installs it, or a distribution.
library() {
    compgen -G "$sysroot/lib/rustlib/$TARGET/lib/libstd-*.rlib" >/dev/null
}

if ! library && command -v rustup >/dev/null; then
    rustup target add "$TARGET" || true
fi
if ! library; then
    [ -e "$sysroot/lib/rustlib/src/rust/library/std/Cargo.toml" ] || missing \
        "Rust's standard library for $TARGET is missing. Try 'rustup target add $TARGET', or, to \
compile it here, 'rustup component add rust-src'"
    echo "compiling Rust's standard library for $TARGET as well"
    export RUSTC_BOOTSTRAP=1
    options+=(-Zbuild-std=std,panic_abort)
fi
# Rust brings its linker along where rustup installs it.
linker=CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER
if [ -z "${!linker:-}" ] && [ ! -e "$sysroot/lib/rustlib/$host/bin/rust-lld" ]; then
    found=$(command -v rust-lld wasm-ld | head -n 1 || true)
    [ -n "$found" ] || missing "the linker is missing: install lld (rust-lld or wasm-ld)"
    export "$linker=$found"
fi

# Copies of 16 bytes at once: browsers since March 2023, as the page's own DecompressionStream.
flags=CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS
echo "building the engines for WebAssembly (a few minutes the first time)"
env -u RUSTFLAGS "$flags=-Ctarget-feature=+simd128" cargo build --locked --quiet --profile wasm -p sojourn-wasm \
    --target "$TARGET" ${options[@]+"${options[@]}"}
mkdir -p "$out"
made=$built/$TARGET/wasm/sojourn_wasm.wasm
module=$out/sojourn.wasm

# Whatever ends in an error leaves the module as it came from the compiler.
shrunk() {
    command -v node >/dev/null && command -v npm >/dev/null || return 1
    local program=$tools/node_modules/binaryen/bin/wasm-opt
    if ! node "$program" --version 2>/dev/null | grep -qF "version ${BINARYEN%%.*} "; then
        npm install --prefix "$tools" --silent --no-fund --no-audit "binaryen@$BINARYEN" || return 1
    fi
    # A function with one caller stays apart: browsers compile the loop over events a quarter slower
    # when it holds all that it calls. By name, functions that are alike lie together, and gzip sees
    # that they are. The first kilobyte is the end of the stack, which comes first.
    node "$program" -O3 --one-caller-inline-max-function-size=0 \
        --low-memory-unused --reorder-functions-by-name \
        --strip-producers --strip-target-features \
        --enable-bulk-memory --enable-mutable-globals --enable-sign-ext \
        --enable-nontrapping-float-to-int --enable-multivalue --enable-reference-types --enable-simd \
        "$made" -o "$module.partial"
}

if ! shrunk; then
    echo "not shrunk: that needs node, npm and the package binaryen $BINARYEN; larger, otherwise the same"
    cp "$made" "$module.partial"
fi
mv "$module.partial" "$module"
# It writes gzip's format, and takes some seconds.
if command -v zopfli >/dev/null; then
    zopfli --i15 -c "$module" >"$module.gz"
else
    gzip -9n <"$module" >"$module.gz"
    echo "compressed by gzip; with zopfli it would be 4 % smaller"
fi
cp crates/wasm/js/*.js "$out"
# The laboratory's page has them in it.
rm -rf python/sojourn/lab/engine
mkdir -p python/sojourn/lab/engine
cp "$module.gz" crates/wasm/js/*.js python/sojourn/lab/engine
size() { wc -c <"$1" | awk '{ printf "%.0f kB", $1 / 1000 }'; }
echo "$module: $(size "$module"), compressed $(size "$module.gz")"
