/** Reads options one by one. A missing one has its default; a wrong one is an error that says what is allowed. */
package dev.launchway.core.session;

import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonValue;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

final class OptionReader {
    /** What an app may change while it runs. */
    static final Set<String> CONFIGURABLE = Collections.unmodifiableSet(new HashSet<String>(Arrays.asList(
            "serverUrl",
            "bundleId",
            "configuration",
            "checkOn",
            "apply",
            "readyMode",
            "readyTimeoutMs",
            "wifiOnly",
            "keepSlots")));

    private static final int MAX_ADDRESS = 2048;
    private static final int MAX_BUNDLE_ID = 155;
    private static final int MAX_CONFIGURATION = 64;
    private static final int MAX_PATH = 512;

    private final Map<String, JsonValue> members;

    OptionReader(Map<String, JsonValue> members) {
        this.members = members;
    }

    /** The index of the chosen word; 0 where nothing is chosen. */
    int choice(String name, String... words) throws FormException {
        String text = text(name);
        int index = text == null ? 0 : Arrays.asList(words).indexOf(text);
        if (index < 0) {
            throw new FormException(name + " must be one of " + Arrays.toString(words));
        }
        return index;
    }

    long number(String name, long otherwise, long min, long max) throws FormException {
        JsonValue value = members.get(name);
        if (value == null) {
            return otherwise;
        }
        Long number = value.asInteger();
        if (number == null || number < min || number > max) {
            throw new FormException(name + " must be a whole number from " + min + " to " + max);
        }
        return number;
    }

    boolean flag(String name) throws FormException {
        JsonValue value = members.get(name);
        if (value != null && value.asBoolean() == null) {
            throw new FormException(name + " must be true or false");
        }
        return value != null && value.asBoolean();
    }

    String address(String name) throws FormException {
        String text = text(name);
        if (text == null) {
            return null;
        }
        String lower = text.toLowerCase(Locale.ROOT);
        int host = lower.startsWith("https://") ? 8 : lower.startsWith("http://") ? 7 : text.length();
        boolean hasHost = host < text.length() && text.charAt(host) != '/' && text.length() <= MAX_ADDRESS;
        if (!hasHost || !isPrintable(text) || text.indexOf('?') >= 0 || text.indexOf('#') >= 0) {
            throw new FormException(name + " must be an address such as https://updates.example.com/api");
        }
        return text;
    }

    String bundleId(String name) throws FormException {
        String text = text(name);
        boolean hasEmptyPart = text != null && ("." + text + ".").contains("..");
        if (text != null && (hasEmptyPart || !isLabel(text, MAX_BUNDLE_ID))) {
            throw new FormException(name + " must be a bundle identifier such as com.example.app");
        }
        return text;
    }

    String configuration(String name) throws FormException {
        String text = text(name);
        if (text != null && !isLabel(text, MAX_CONFIGURATION)) {
            throw new FormException(name + " must be 1 to 64 letters, digits, `.`, `_` and `-`");
        }
        return text;
    }

    String path(String name) throws FormException {
        String text = text(name);
        if (text == null) {
            return null;
        }
        boolean climbs = ("/" + text + "/").contains("/../") || ("/" + text + "/").contains("//");
        if (climbs || text.length() > MAX_PATH || !isPrintable(text)) {
            throw new FormException(name + " must be the path of a file in the package");
        }
        return text;
    }

    private String text(String name) throws FormException {
        JsonValue value = members.get(name);
        if (value != null && value.asText() == null) {
            throw new FormException(name + " must be a text");
        }
        return value == null ? null : value.asText();
    }

    private static boolean isPrintable(String text) {
        for (int at = 0; at < text.length(); at++) {
            if (text.charAt(at) <= ' ' || text.charAt(at) == 0x7f) {
                return false;
            }
        }
        return true;
    }

    /** Letters, digits, `.`, `_` and `-` of ASCII. */
    private static boolean isLabel(String text, int max) {
        for (int at = 0; at < text.length(); at++) {
            char unit = text.charAt(at);
            boolean isLetter = (unit >= 'a' && unit <= 'z') || (unit >= 'A' && unit <= 'Z');
            if (!isLetter && !(unit >= '0' && unit <= '9') && "._-".indexOf(unit) < 0) {
                return false;
            }
        }
        return !text.isEmpty() && text.length() <= max;
    }
}
