#!/usr/bin/env bash
# Sees to it that `launchway` is on the PATH: the one that is there, else one built from this very source.
# `place` says where it goes and what it is kept under; `install` builds it there, unless the cache brought it.
set -euo pipefail

source_code=$GITHUB_ACTION_PATH

place() {
    if command -v launchway >/dev/null; then
        echo "Using $(command -v launchway)"
        return
    fi
    local sum
    sum=$(cd "$source_code" && find crates Cargo.toml Cargo.lock -type f -print0 | LC_ALL=C sort -z | xargs -0 cat | git hash-object --stdin)
    {
        echo "path=$RUNNER_TEMP/launchway"
        echo "key=launchway-$RUNNER_OS-$RUNNER_ARCH-$sum"
    } >>"$GITHUB_OUTPUT"
}

install() {
    if ! [ -x "$PLACE/bin/launchway" ]; then
        cargo install --locked --path "$source_code/crates/cli" --root "$PLACE" --target-dir "$RUNNER_TEMP/launchway-target"
    fi
    echo "$PLACE/bin" >>"$GITHUB_PATH"
}

case "${1:-}" in
place) place ;;
install) install ;;
*)
    echo 'usage: install.sh place | install' >&2
    exit 2
    ;;
esac
