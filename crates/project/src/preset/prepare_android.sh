work="${TMPDIR:-/tmp}/launchway"
rm -rf "$work"
mkdir -p "$work"
cat > "$work/android.sh" <<'END'
# Where the Android SDK is, unless the environment says it.
if [ -z "${ANDROID_HOME:-}" ]; then
    for sdk in "${ANDROID_SDK_ROOT:-}" "$HOME/Android/Sdk" "$HOME/Library/Android/sdk" /opt/android-sdk /opt/android/sdk \
        /usr/local/lib/android/sdk /usr/lib/android-sdk; do
        if [ -n "$sdk" ] && [ -d "$sdk/platforms" ]; then
            export ANDROID_HOME="$sdk"
            break
        fi
    done
fi
END
cat > "$work/init.gradle" <<'END'
@INIT@
END
