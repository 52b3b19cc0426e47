#!/usr/bin/env bash
# Sees to it that a headless Chromium is there for the test of the report, or says aloud that there
# is none and that test will be skipped.
set -euo pipefail
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && command -v chromedriver >/dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "== installing chromium for the browser test"
    export DEBIAN_FRONTEND=noninteractive
    if apt-get -qq update >/dev/null && apt-get -qq install --no-install-recommends chromium chromium-driver >/dev/null 2>&1; then
        exit 0
    fi
fi
echo "!! NO CHROMIUM: the test of the report in a browser WILL BE SKIPPED. Install chromium and chromium-driver." >&2
