# shellcheck shell=bash
# What the action was told about the server, for `launchway`. To be sourced.
[ -z "${URL:-}" ] || export LAUNCHWAY_URL=$URL
[ -z "${API_KEY:-}" ] || export LAUNCHWAY_API_KEY=$API_KEY
# Nothing but `launchway` itself sees the key.
unset API_KEY
