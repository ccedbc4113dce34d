#!/usr/bin/env bash
# Compares the project with what is out, and says so: as outputs, in the summary, and as a comment on the pull request.
set -euo pipefail
: "${PLATFORM:?}" "${AGAINST:?}"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=action/caller.sh
. "$here/caller.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fingerprint=$(launchway fingerprint "$PLATFORM")
echo "fingerprint=$fingerprint" >>"$GITHUB_OUTPUT"

status=0
launchway native-needed "$PLATFORM" --against "$AGAINST" --json >"$work/needed.json" || status=$?
case $status in
0) needed=false ;;
10) needed=true ;;
3)
    # Nothing is out that it could be compared with.
    echo "::notice::There is no build or update with a fingerprint to compare with."
    exit 0
    ;;
*) exit "$status" ;;
esac
against=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")).against' "$work/needed.json")
{
    echo "against=$against"
    echo "native-needed=$needed"
} >>"$GITHUB_OUTPUT"

launchway fingerprint diff "$against" here --platform "$PLATFORM" --json >"$work/diff.json"
unset LAUNCHWAY_API_KEY
node "$here/comment.mjs" "$PLATFORM" "$against" "$work/diff.json"
