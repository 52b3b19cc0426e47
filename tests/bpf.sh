#!/usr/bin/env bash
# Fetches a kernel that takes queue disciplines in BPF for the tests of laws in BPF; it is kept in
# .tools and never installed. Or says aloud what is missing, and that these tests will be skipped.
set -euo pipefail

CACHE=$(cd "$(dirname "$0")/.." && pwd)/.tools/kernel-bpf
PROGRAMS=(clang-19 bpftool qemu-system-x86_64 iperf3 ethtool ip tc)
MODULES=(veth sch_netem sch_ingress cls_bpf)

skipped() {
    echo "!! NO $1: THE TESTS OF LAWS IN BPF WILL BE SKIPPED." >&2
    exit 0
}

missing() {
    for program in "${PROGRAMS[@]}"; do
        command -v "$program" >/dev/null || { echo "$program"; return; }
    done
    [ -e /usr/include/bpf/bpf_helpers.h ] || echo libbpf-dev
}

# A kernel fits only its own modules: all of them are there, or none.
fetched() {
    [ -e "$CACHE/vmlinuz" ] || return 1
    for module in "${MODULES[@]}"; do
        [ -e "$CACHE/$module.ko.xz" ] || return 1
    done
}

[ -z "$(missing)" ] || skipped "$(missing)"
if fetched; then exit 0; fi
command -v apt-get >/dev/null || skipped "APT TO FETCH A KERNEL WITH"

# Debian's newest kernel for the present release, of its backports: asked for in a configuration of
# our own, beside the machine's.
echo "== fetching a kernel for the tests of laws in BPF"
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place"/{lists,archives}/partial "$CACHE"
mirror=$(sed -nE 's/^(URIs:|deb( \[[^]]*\])?) *(https?:\/\/[^ ]*debian)\/? *.*$/\3/p' \
    /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -1 || true)
[ -n "$mirror" ] || skipped "DEBIAN MIRROR IN APT'S SOURCES"
key=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$key] $mirror trixie-backports main" >"$place/sources.list"
options=(-o "Dir::Etc::sourcelist=$place/sources.list" -o Dir::Etc::sourceparts=- \
    -o "Dir::State::lists=$place/lists" -o "Dir::Cache::archives=$place/archives" \
    -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache=" -o APT::Sandbox::User=root)
apt-get -qq "${options[@]}" update >/dev/null 2>&1 || skipped "TRIXIE-BACKPORTS"
version=$(apt-cache "${options[@]}" search --names-only '^linux-binary-7\.2\..*cloud-amd64$' |
    sed -nE 's/^linux-binary-(7\.2\.[0-9]+\+deb13-cloud-amd64) .*/\1/p' | sort -V | tail -1)
[ -n "$version" ] || skipped "KERNEL 7.2 IN TRIXIE-BACKPORTS"
cd "$place"
apt-get -qq "${options[@]}" download "linux-binary-$version" "linux-modules-$version" \
    >/dev/null 2>&1 || skipped "KERNEL $version"
for package in ./*.deb; do dpkg -x "$package" unpacked; done
rm -f "$CACHE"/vmlinuz "$CACHE"/*.ko.xz
for module in "${MODULES[@]}"; do
    find unpacked -name "$module.ko.xz" -exec cp {} "$CACHE/" \;
    [ -e "$CACHE/$module.ko.xz" ] || skipped "MODULE $module OF KERNEL $version"
done
cp "$(find unpacked -name 'vmlinuz*' -type f | head -1)" "$CACHE/vmlinuz.new"
mv "$CACHE/vmlinuz.new" "$CACHE/vmlinuz"
