find @OUTPUTS@ -type f \( -name '*.apk' -o -name '*.aab' \) | while IFS= read -r file; do
    case "$file" in
    *-unsigned.apk) signed=no ;;
    *.aab) if LC_ALL=C grep -aqE 'META-INF/[^/]+\.(RSA|DSA|EC)' "$file"; then signed=yes; else signed=no; fi ;;
    *) signed=yes ;;
    esac
    if [ "$signed" = no ]; then
        echo "$file is not signed. Add an Android keystore to the credentials, or sign the app in the project." >&2
        exit 1
    fi
done
