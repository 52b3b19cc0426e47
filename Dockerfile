# What all tests and benchmarks need: Rust, Python, a browser, clang for BPF, qemu for kernels and for
# another architecture, Verilator and Yosys for hardware, Node for WebAssembly, valgrind, and ns-2 to
# compare with. The sources are mounted, not copied:
#
#   docker build -t sojourn-dev .
#   docker run --rm -it --privileged -v "$PWD":/sojourn sojourn-dev make test
#
# Privileged for network namespaces, /dev/net/tun and /dev/kvm; without it the tests of real packets
# are skipped, and say so.
FROM rust:1-bookworm

RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        bpftool chromium chromium-driver clang-19 ethtool g++ gcc-aarch64-linux-gnu iperf3 \
        iproute2 libbpf-dev libc6-dev-arm64-cross make nodejs npm ns2 python3 python3-pip \
        python3-venv qemu-system-x86 qemu-user valgrind verilator yosys \
        zopfli \
    && rm -rf /var/lib/apt/lists/* \
    && rustup component add clippy rustfmt \
    && rustup target add aarch64-unknown-linux-gnu wasm32-unknown-unknown

# Build folders of this image stay out of the sources' own.
ENV CARGO_TARGET_DIR=/target SYSTEM_PACKAGES=no
RUN git config --system --add safe.directory /sojourn

WORKDIR /sojourn
CMD ["make", "check"]
