/** Strict UTF-8, and the order of texts by their UTF-8 bytes. */
package dev.launchway.core.text;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;

public final class Utf8 {
    /** The order of the texts' UTF-8 bytes, which is that of their code points. {@link String#compareTo} differs. */
    public static final Comparator<String> ORDER = new Order();

    private Utf8() {}

    public static byte[] encode(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** The text of these bytes; null if they are not UTF-8. */
    public static String decode(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .onUnmappableCharacter(CodingErrorAction.REPORT)
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException notUtf8) {
            return null;
        }
    }

    private static final class Order implements Comparator<String> {
        @Override
        public int compare(String one, String other) {
            int shared = Math.min(one.length(), other.length());
            for (int at = 0; at < shared; at++) {
                char left = one.charAt(at);
                char right = other.charAt(at);
                if (left != right) {
                    return rank(left) - rank(right);
                }
            }
            return one.length() - other.length();
        }

        /** Surrogates spell code points above all others, but their own numbers are below U+E000. */
        private static int rank(char unit) {
            return Character.isSurrogate(unit) ? unit + 0x10000 : unit;
        }
    }
}
