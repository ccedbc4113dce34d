/** Semantic versions, compared by precedence (docs/reference/updates.md#versions). */
package dev.launchway.core.versions;

public final class Version implements Comparable<Version> {
    private static final int MAX_LENGTH = 128;
    private static final String MAX_NUMBER = "18446744073709551615";

    /** Three numbers without leading zeros, as text: they have up to 64 bits and no sign. */
    private final String[] numbers;
    /** The dotted identifiers after the hyphen; null if there are none. */
    private final String preRelease;

    private Version(String[] numbers, String preRelease) {
        this.numbers = numbers;
        this.preRelease = preRelease;
    }

    /**
     * Parses strict Semantic Versioning 2.0.0, and additionally `1` and `1.2`, which mean `1.0.0` and `1.2.0`; null for anything
     * else. Build metadata is checked, then dropped.
     */
    public static Version parse(String text) {
        if (text.length() > MAX_LENGTH) {
            return null;
        }
        // The metadata may contain hyphens and the pre-release no plus, so the plus is searched first.
        int plus = text.indexOf('+');
        String metadata = plus < 0 ? null : text.substring(plus + 1);
        String rest = plus < 0 ? text : text.substring(0, plus);
        int hyphen = rest.indexOf('-');
        String preRelease = hyphen < 0 ? null : rest.substring(hyphen + 1);
        String[] core = (hyphen < 0 ? rest : rest.substring(0, hyphen)).split("\\.", -1);
        boolean shortened = core.length < 3;
        if (core.length > 3 || (shortened && (metadata != null || preRelease != null))) {
            return null;
        }
        if (!areIdentifiers(metadata, false) || !areIdentifiers(preRelease, true)) {
            return null;
        }
        String[] numbers = {"0", "0", "0"};
        for (int at = 0; at < core.length; at++) {
            if (!isNumber(core[at]) || compareNumbers(core[at], MAX_NUMBER) > 0) {
                return null;
            }
            numbers[at] = core[at];
        }
        return new Version(numbers, preRelease);
    }

    private static boolean areIdentifiers(String text, boolean refuseLeadingZeros) {
        if (text == null) {
            return true;
        }
        for (String part : text.split("\\.", -1)) {
            if (part.isEmpty() || (refuseLeadingZeros && isNumeral(part) && !isNumber(part))) {
                return false;
            }
            for (int at = 0; at < part.length(); at++) {
                char letter = part.charAt(at);
                boolean isLetter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
                if (!isLetter && !isDigit(letter) && letter != '-') {
                    return false;
                }
            }
        }
        return true;
    }

    private static boolean isDigit(char character) {
        return character >= '0' && character <= '9';
    }

    static boolean isNumeral(String text) {
        for (int at = 0; at < text.length(); at++) {
            if (!isDigit(text.charAt(at))) {
                return false;
            }
        }
        return !text.isEmpty();
    }

    private static boolean isNumber(String text) {
        return isNumeral(text) && (text.length() == 1 || text.charAt(0) != '0');
    }

    /** Numbers without leading zeros are in the order of their lengths, then of their digits. */
    private static int compareNumbers(String one, String other) {
        return one.length() == other.length() ? one.compareTo(other) : one.length() - other.length();
    }

    @Override
    public int compareTo(Version other) {
        for (int at = 0; at < numbers.length; at++) {
            int order = compareNumbers(numbers[at], other.numbers[at]);
            if (order != 0) {
                return order;
            }
        }
        if (preRelease == null || other.preRelease == null) {
            return (preRelease == null ? 1 : 0) - (other.preRelease == null ? 1 : 0);
        }
        return comparePreReleases(preRelease.split("\\."), other.preRelease.split("\\."));
    }

    /** Item 11.4: identifier by identifier, numbers before words; if one is a prefix of the other, the shorter first. */
    private static int comparePreReleases(String[] one, String[] other) {
        for (int at = 0; at < Math.min(one.length, other.length); at++) {
            boolean isNumber = isNumeral(one[at]);
            int order;
            if (isNumber != isNumeral(other[at])) {
                order = isNumber ? -1 : 1;
            } else {
                order = isNumber ? compareNumbers(one[at], other[at]) : one[at].compareTo(other[at]);
            }
            if (order != 0) {
                return order;
            }
        }
        return one.length - other.length;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Version && compareTo((Version) other) == 0;
    }

    @Override
    public int hashCode() {
        return toString().hashCode();
    }

    /** All three numbers and the pre-release: equal exactly for equal versions. */
    @Override
    public String toString() {
        String core = numbers[0] + "." + numbers[1] + "." + numbers[2];
        return preRelease == null ? core : core + "-" + preRelease;
    }
}
