/** Percent-encoding of RFC 3986: everything but unreserved characters, in upper case. */
package dev.launchway.core.text;

public final class PercentEncoding {
    private static final String UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    private static final String DIGITS = "0123456789ABCDEF";

    private PercentEncoding() {}

    public static String encode(String text) {
        StringBuilder encoded = new StringBuilder(text.length());
        for (byte value : Utf8.encode(text)) {
            if (UNRESERVED.indexOf(value) >= 0) {
                encoded.append((char) value);
            } else {
                encoded.append('%').append(DIGITS.charAt((value >> 4) & 15)).append(DIGITS.charAt(value & 15));
            }
        }
        return encoded.toString();
    }
}
