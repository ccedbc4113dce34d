/** PEM armor (RFC 7468) of one block, whatever its line breaks, and the base64 in it, which Android has only since API 26. */
package dev.launchway.core.trust.keys;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;

final class Pem {
    private static final String DASHES = "-----";
    private static final int LINE = 64;
    private static final String DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    private Pem() {}

    /** The bytes of the one block of this label that the text consists of; null for any other text. */
    static byte[] decode(String text, String label) {
        String begin = DASHES + "BEGIN " + label + DASHES;
        String end = DASHES + "END " + label + DASHES;
        String trimmed = trim(text);
        if (!trimmed.startsWith(begin) || !trimmed.endsWith(end) || trimmed.length() < begin.length() + end.length()) {
            return null;
        }
        return decodeBase64(trimmed.substring(begin.length(), trimmed.length() - end.length()));
    }

    /** A block with lines of 64 characters. */
    static String encode(byte[] bytes, String label) {
        StringBuilder text = new StringBuilder(DASHES + "BEGIN " + label + DASHES + "\n");
        String digits = encodeBase64(bytes);
        for (int at = 0; at < digits.length(); at += LINE) {
            text.append(digits, at, Math.min(at + LINE, digits.length())).append('\n');
        }
        return text.append(DASHES + "END ").append(label).append(DASHES + "\n").toString();
    }

    private static String trim(String text) {
        int start = 0;
        int end = text.length();
        while (start < end && isWhiteSpace(text.charAt(start))) {
            start++;
        }
        while (start < end && isWhiteSpace(text.charAt(end - 1))) {
            end--;
        }
        return text.substring(start, end);
    }

    /** Unicode's property White_Space, so that every client reads the same texts. */
    private static boolean isWhiteSpace(char character) {
        return isAsciiWhiteSpace(character)
                || "\u000b\u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000".indexOf(character) >= 0
                || (character >= '\u2000' && character <= '\u200a');
    }

    private static boolean isAsciiWhiteSpace(char character) {
        return " \t\n\f\r".indexOf(character) >= 0;
    }

    /** Null unless the digits are the one spelling of the bytes, white space aside. */
    private static byte[] decodeBase64(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int bits = 0;
        int digits = 0;
        int padding = 0;
        for (int at = 0; at < text.length(); at++) {
            char character = text.charAt(at);
            if (isAsciiWhiteSpace(character)) {
                continue;
            }
            int value = DIGITS.indexOf(character);
            if (character == '=') {
                padding++;
                value = 0;
            } else if (value < 0 || padding > 0) {
                return null;
            }
            bits = (bits << 6 | value) & 0xffffff;
            digits++;
            if (digits % 4 == 0) {
                bytes.write(bits >> 16);
                bytes.write(bits >> 8);
                bytes.write(bits);
            }
        }
        boolean spareBits = (bits & (1 << 8 * Math.min(padding, 2)) - 1) != 0;
        if (digits % 4 != 0 || padding > 2 || spareBits) {
            return null;
        }
        byte[] whole = bytes.toByteArray();
        return Arrays.copyOf(whole, whole.length - padding);
    }

    private static String encodeBase64(byte[] bytes) {
        StringBuilder digits = new StringBuilder();
        for (int at = 0; at < bytes.length; at += 3) {
            int left = Math.min(3, bytes.length - at);
            int bits = 0;
            for (int index = 0; index < 3; index++) {
                bits = bits << 8 | (index < left ? bytes[at + index] & 0xff : 0);
            }
            for (int digit = 0; digit < 4; digit++) {
                digits.append(digit <= left ? DIGITS.charAt(bits >> (18 - 6 * digit) & 63) : '=');
            }
        }
        return digits.toString();
    }
}
