/** A package, or a file list, breaks a rule (docs/reference/file-lists.md). It does so for ever. */
package dev.launchway.core.packages;

public final class PackageException extends Exception {
    private static final long serialVersionUID = 1;

    private static final int MAX_SHOWN = 120;

    PackageException(String message) {
        super(message);
    }

    /** {@code fault} follows the entry's name. */
    static PackageException ofEntry(String name, String fault) {
        return new PackageException("the entry `" + visible(name) + "` " + fault);
    }

    static PackageException ofDirectory(String fault) {
        return new PackageException("the directory of the ZIP archive is damaged: " + fault);
    }

    /** Hostile names neither control a terminal nor fill a log. */
    private static String visible(String name) {
        StringBuilder shown = new StringBuilder();
        for (int at = 0; at < name.length(); at++) {
            if (shown.length() > MAX_SHOWN) {
                return shown.append('…').toString();
            }
            char character = name.charAt(at);
            if (character >= ' ' && character <= '~') {
                shown.append(character);
            } else {
                shown.append("\\u{").append(Integer.toHexString(character)).append('}');
            }
        }
        return shown.toString();
    }
}
