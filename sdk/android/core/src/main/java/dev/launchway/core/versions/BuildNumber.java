/** The build numbers of updates, and those of installed apps (docs/reference/updates.md#current-build). */
package dev.launchway.core.versions;

public final class BuildNumber {
    private static final int MAX_DIGITS = 18;
    private static final int MAX_INSTALLED_LENGTH = 64;

    private BuildNumber() {}

    /** The build number of an update, of 1 to 18 digits; null for any other text. */
    public static Long parse(String text) {
        return text.length() <= MAX_DIGITS && Version.isNumeral(text) ? Long.valueOf(text) : null;
    }

    /** Whether an app can have this build: numerals, also dotted such as `1.0.3`. */
    public static boolean isInstalled(String text) {
        if (text.length() > MAX_INSTALLED_LENGTH) {
            return false;
        }
        for (String part : text.split("\\.", -1)) {
            if (!Version.isNumeral(part)) {
                return false;
            }
        }
        return true;
    }

    /** Whether {@code build} is above the installed one. Only its first part counts, since those of a plain number are 0. */
    public static boolean isNewer(long build, String installed) {
        if (!isInstalled(installed)) {
            return false;
        }
        String first = installed.split("\\.", -1)[0];
        int zeros = 0;
        while (zeros < first.length() - 1 && first.charAt(zeros) == '0') {
            zeros++;
        }
        Long number = parse(first.substring(zeros));
        // Digits that are too many exceed every build number.
        return number != null && build > number;
    }
}
