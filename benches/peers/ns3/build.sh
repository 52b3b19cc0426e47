#!/bin/sh
# Builds dumbbell.cc into OUTPUT against an installed ns-3, optimised.
#
#   sh build.sh OUTPUT [VENV]
#
# With VENV: the `ns3` wheel of the Python package index installed in that virtual
# environment (3.44 asks for C++20). Without: the system's libns3-dev (3.37 asks for C++17).
set -eu
output=$1
source=$(dirname "$0")/dumbbell.cc
modules="applications internet network nix-vector-routing point-to-point traffic-control core"
if [ $# -gt 1 ]; then
    ns3=$(echo "$2"/lib/python3*/site-packages/ns3)
    core=$(basename "$(echo "$ns3"/lib64/libns3.*-core.so)" -core.so)
    prefix=${core#lib}
    set -- -std=c++20 "-I$ns3/include" "-L$ns3/lib64" "-Wl,-rpath,$ns3/lib64" \
        -Wl,--allow-shlib-undefined
else
    prefix=ns3
    set -- -std=c++17
fi
libraries=
for module in $modules; do libraries="$libraries -l$prefix-$module"; done
# shellcheck disable=SC2086
exec "${CXX:-c++}" -O3 -DNDEBUG "$source" -o "$output" "$@" $libraries
