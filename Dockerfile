# What all tests need: Rust, Python, a browser, clang for BPF, qemu for kernels. The sources are
# mounted, not copied:
#
#   docker build -t sojourn-dev .
#   docker run --rm -it --privileged -v "$PWD":/sojourn sojourn-dev make test
#
# Privileged for network namespaces, /dev/net/tun and /dev/kvm; without it the tests of real packets
# are skipped, and say so.
FROM rust:1-bookworm

RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        bpftool chromium chromium-driver clang-19 ethtool iperf3 iproute2 libbpf-dev make \
        python3 python3-pip python3-venv qemu-system-x86 \
    && rm -rf /var/lib/apt/lists/* \
    && rustup component add clippy rustfmt

# Build folders of this image stay out of the sources' own.
ENV CARGO_TARGET_DIR=/target SYSTEM_PACKAGES=no
RUN git config --system --add safe.directory /sojourn

WORKDIR /sojourn
CMD ["make", "check"]
