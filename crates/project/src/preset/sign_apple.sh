
# The profiles that fit the distribution.
value() { plutil -extract "$1" raw -o - "$work/profile.plist" 2> /dev/null || true; }
main='' team='' method=@METHOD@ seen=''
: > "$work/profiles.xml"
for nth in '' _2 _3 _4 _5 _6 _7 _8 _9 _10 _11 _12 _13 _14 _15 _16 _17 _18 _19 _20; do
    eval "file=\${LAUNCHWAY_PROVISIONING_PROFILE$nth:-}"
    if [ -z "$file" ]; then break; fi
    seen=yes
    security cms -D -i "$file" -o "$work/profile.plist"
    if [ "$(value Entitlements.get-task-allow)" = true ]; then
        kind=development
    elif [ "$(value ProvisionsAllDevices)" = true ]; then
        kind=enterprise
    elif [ -n "$(value ProvisionedDevices)" ]; then
        kind=internal
    else
        kind=store
    fi
    case "@DISTRIBUTION@ $kind" in
    "store store" | "internal internal" | "internal enterprise" | "development development") ;;
    *) continue ;;
    esac
    uuid=$(value UUID)
    app=$(value Entitlements.application-identifier)
    app=${app#*.}
    case "$app" in *'*') app=$LAUNCHWAY_BUNDLE_ID ;; esac
    # Xcode asks the system for the home directory, not the environment.
    account=$(eval "echo ~$(id -un)")
    case "$account" in /*) ;; *) account=$HOME ;; esac
    for home in "$HOME" "$account"; do
        for folder in 'Library/MobileDevice/Provisioning Profiles' \
            'Library/Developer/Xcode/UserData/Provisioning Profiles'; do
            if mkdir -p "$home/$folder" 2> /dev/null; then cp "$file" "$home/$folder/$uuid.mobileprovision"; fi
        done
    done
    echo "LAUNCHWAY_PROFILE_$(printf %s "$app" | tr -c 'A-Za-z0-9' _) = $uuid" >> "$settings"
    echo "        <key>$app</key><string>$uuid</string>" >> "$work/profiles.xml"
    if [ -z "$main" ] || [ "$app" = "$LAUNCHWAY_BUNDLE_ID" ]; then
        main=$uuid
        team=$(value TeamIdentifier.0)
        if [ "$kind" = enterprise ]; then method=enterprise; fi
    fi
done
if [ -n "$seen" ] && [ -z "$main" ]; then
    echo "No provisioning profile among the credentials is for @DISTRIBUTION@ distribution. Add one." >&2
    exit 1
fi

# The certificates, in a keychain of this build.
if [ -n "${LAUNCHWAY_APPLE_CERTIFICATE:-}" ]; then
    keychain="$work/signing.keychain-db"
    password=$(uuidgen)
    security create-keychain -p "$password" "$keychain"
    security set-keychain-settings -lut 86400 "$keychain"
    security unlock-keychain -p "$password" "$keychain"
    for nth in '' _2 _3 _4 _5 _6 _7 _8 _9; do
        eval "file=\${LAUNCHWAY_APPLE_CERTIFICATE$nth:-} opens=\${LAUNCHWAY_APPLE_CERTIFICATE${nth}_PASSWORD:-}"
        if [ -z "$file" ]; then break; fi
        security import "$file" -k "$keychain" -f pkcs12 -P "$opens" -T /usr/bin/codesign -T /usr/bin/security
    done
    security set-key-partition-list -S apple-tool:,apple:,codesign: -s -k "$password" "$keychain" > /dev/null
    # Keychains of builds that were killed are left out.
    set -- "$keychain"
    known=$(security list-keychains -d user | sed 's/^ *"//; s/"$//')
    while IFS= read -r other; do
        if [ -e "$other" ]; then set -- "$@" "$other"; fi
    done <<END
$known
END
    security list-keychains -d user -s "$@"
fi

if [ -n "${LAUNCHWAY_APPLE_CERTIFICATE:-}" ] && [ -n "$main" ]; then
    style=manual
    security find-identity -v -p codesigning "$keychain" | sed -n 's/.*"\(.*\)"$/\1/p' > "$work/identities"
    identity=$(grep -m 1 -E '@IDENTITY@' "$work/identities" || head -n 1 "$work/identities")
    if [ -z "$identity" ]; then
        echo "The Apple certificate among the credentials cannot sign: it is expired, revoked or has no private key" >&2
        exit 1
    fi
    echo "$main" > "$work/main-profile"
    # Each target takes the profile of its own bundle id; targets that have none, such as libraries, take none.
    cat >> "$settings" <<END
CODE_SIGN_STYLE = Manual
CODE_SIGN_IDENTITY = $identity
DEVELOPMENT_TEAM = $team
PROVISIONING_PROFILE_SPECIFIER = \$(LAUNCHWAY_PROFILE_\$(PRODUCT_BUNDLE_IDENTIFIER:c99extidentifier))
END
elif [ -n "${LAUNCHWAY_APP_STORE_CONNECT_KEY:-}" ]; then
    style=automatic
    : > "$work/automatic"
else
    style=automatic
    echo "No Apple certificate with a provisioning profile, and no App Store Connect key among the"
    echo "credentials: Xcode signs with the identities of this machine"
fi
{
    echo '<?xml version="1.0" encoding="UTF-8"?>'
    echo '<plist version="1.0">'
    echo '<dict>'
    echo "    <key>method</key><string>$method</string>"
    echo '    <key>destination</key><string>export</string>'
    echo "    <key>signingStyle</key><string>$style</string>"
    echo '    <key>manageAppVersionAndBuildNumber</key><false/>'
    if [ -n "$team" ]; then echo "    <key>teamID</key><string>$team</string>"; fi
    if [ "$style" = manual ]; then
        echo '    <key>provisioningProfiles</key>'
        echo '    <dict>'
        cat "$work/profiles.xml"
        echo '    </dict>'
    fi
    echo '</dict>'
    echo '</plist>'
} > "$work/ExportOptions.plist"
