work="${TMPDIR:-/tmp}/launchway"
rm -rf "$work"
mkdir -p "$work"
settings="$work/build.xcconfig"
: > "$settings"

# The version and build number: most projects take them from the settings, others name them in their property lists.
if [ -n "${LAUNCHWAY_VERSION:-}" ]; then echo "MARKETING_VERSION = $LAUNCHWAY_VERSION" >> "$settings"; fi
if [ -n "${LAUNCHWAY_BUILD_NUMBER:-}" ]; then echo "CURRENT_PROJECT_VERSION = $LAUNCHWAY_BUILD_NUMBER" >> "$settings"; fi
replace_named() {
    if [ -z "$2" ]; then return 0; fi
    named=$(plutil -extract "$1" raw -o - "$3" 2> /dev/null) || return 0
    case "$named" in
    *'$('* | *'${'* | "$2") ;;
    *) plutil -replace "$1" -string "$2" "$3" ;;
    esac
}
find . -name Info.plist -not -path '*/node_modules/*' -not -path '*/Pods/*' -not -path '*/build/*' \
    -not -path '*.framework/*' -not -path '*.xcframework/*' -not -path '*.bundle/*' | while IFS= read -r plist; do
    replace_named CFBundleShortVersionString "${LAUNCHWAY_VERSION:-}" "$plist"
    replace_named CFBundleVersion "${LAUNCHWAY_BUILD_NUMBER:-}" "$plist"
done

cat > "$work/apple.sh" <<'END'
# How Xcode signs; "$@" are options of xcodebuild.
work="${TMPDIR:-/tmp}/launchway"
export XCODE_XCCONFIG_FILE="$work/build.xcconfig"
set --
if [ -e "$work/automatic" ]; then
    set -- -allowProvisioningUpdates -authenticationKeyPath "$LAUNCHWAY_APP_STORE_CONNECT_KEY" \
        -authenticationKeyID "$LAUNCHWAY_APP_STORE_CONNECT_KEY_ID" \
        -authenticationKeyIssuerID "$LAUNCHWAY_APP_STORE_CONNECT_KEY_ISSUER_ID"
fi
remove_keychain() {
    if [ -e "$work/signing.keychain-db" ]; then security delete-keychain "$work/signing.keychain-db"; fi
}
END
