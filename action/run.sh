#!/usr/bin/env bash
# Runs the command of the action with its arguments, one a line.
set -euo pipefail
: "${COMMAND:?}" "${PLATFORM:?}" "${ARGUMENTS=}"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=action/caller.sh
. "$here/caller.sh"

case $COMMAND in
build | update) ;;
*)
    echo "::error::command must be build or update, or nothing to compare only"
    exit 2
    ;;
esac

arguments=()
while IFS= read -r line; do
    line=${line%$'\r'}
    [ -z "$line" ] || arguments+=("$line")
done <<<"$ARGUMENTS"

status=0
launchway "$COMMAND" "$PLATFORM" ${arguments[@]+"${arguments[@]}"} || status=$?
case $status in
0) ;;
5) echo "::error::The newest build cannot run this update. Build the app for the stores first, or add --allow-incompatible." ;;
*) echo "::error::launchway $COMMAND ended with exit code $status; its output says why." ;;
esac
exit "$status"
