/** The roles that sign updates: `c-<configuration>`, and `any` for every configuration (docs/reference/trust.md#roles). */
package dev.launchway.core.trust;

import dev.launchway.core.versions.Version;

public final class UpdateRole {
    static final String ANY = "any";

    private static final int MAX_CONFIGURATION_LENGTH = 64;

    private UpdateRole() {}

    /** The name of a configuration's role. */
    static String ofConfiguration(String configuration) {
        if (!isConfiguration(configuration)) {
            throw new IllegalArgumentException("a configuration has 1 to 64 letters, digits, `.`, `_` and `-`");
        }
        return "c-" + configuration;
    }

    public static boolean isConfiguration(String text) {
        for (int at = 0; at < text.length(); at++) {
            char letter = text.charAt(at);
            boolean isAlphanumeric = letter < 0x80 && Character.isLetterOrDigit(letter);
            if (!isAlphanumeric && "._-".indexOf(letter) < 0) {
                return false;
            }
        }
        return !text.isEmpty() && text.length() <= MAX_CONFIGURATION_LENGTH;
    }

    /** The only paths that are delegated to the role. */
    static String pathPattern(String role) {
        return role + "/*/*";
    }

    /** The path of an update's target: the version without metadata, the build number without leading zeros. */
    static String targetPath(String role, Platform platform, Version version, long build) {
        return role + "/" + platform + "/" + version + "_" + build + ".zip";
    }
}
