/** The platforms of apps. */
package dev.launchway.core.trust;

import java.util.Locale;

public enum Platform {
    IOS,
    ANDROID,
    VISIONOS;

    /** The platform of this name; null if there is none. */
    public static Platform parse(String text) {
        for (Platform platform : values()) {
            if (platform.toString().equals(text)) {
                return platform;
            }
        }
        return null;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
