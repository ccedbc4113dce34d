/** The header field of a partial response, such as `bytes 5-9/10`. */
package dev.launchway.core.net;

final class ContentRange {
    private static final int MAX_DIGITS = 18;
    private static final String UNIT = "bytes ";

    /** The first byte. */
    final long start;
    /** The size of the whole; -1 if the server does not know it. */
    final long whole;

    private ContentRange(long start, long whole) {
        this.start = start;
        this.whole = whole;
    }

    /** Null for a missing or malformed field. */
    static ContentRange parse(String value) {
        if (value == null || !value.startsWith(UNIT)) {
            return null;
        }
        int dash = value.indexOf('-');
        int slash = value.indexOf('/');
        if (dash < UNIT.length() || slash < dash) {
            return null;
        }
        long start = number(value.substring(UNIT.length(), dash));
        long end = number(value.substring(dash + 1, slash));
        String size = value.substring(slash + 1);
        long whole = number(size);
        boolean valid = start >= 0 && end >= start && (whole >= 0 || size.equals("*"));
        return valid ? new ContentRange(start, whole) : null;
    }

    /** The number that the digits spell; -1 for any other text. */
    private static long number(String digits) {
        if (digits.isEmpty() || digits.length() > MAX_DIGITS) {
            return -1;
        }
        long number = 0;
        for (int at = 0; at < digits.length(); at++) {
            char digit = digits.charAt(at);
            if (digit < '0' || digit > '9') {
                return -1;
            }
            number = number * 10 + digit - '0';
        }
        return number;
    }
}
