if [ -z "${LAUNCHWAY_ANDROID_KEYSTORE:-}" ]; then
    echo "No Android keystore among the credentials: the project has to sign the app itself"
fi
