/** A SHA-256 digest, written as 64 lower-case hexadecimal digits. */
package dev.launchway.core.digest;

import dev.launchway.core.text.Hex;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

public final class Sha256 implements Comparable<Sha256> {
    private static final int LENGTH = 32;

    private final String digits;

    private Sha256(String digits) {
        this.digits = digits;
    }

    public static Sha256 of(byte[] bytes) {
        return fromBytes(newHash().digest(bytes));
    }

    /** The digest that somebody computed. */
    public static Sha256 fromBytes(byte[] digest) {
        if (digest.length != LENGTH) {
            throw new IllegalArgumentException("a SHA-256 digest has 32 bytes");
        }
        return new Sha256(Hex.encode(digest));
    }

    /** The digest that the text spells; null for any other text. */
    public static Sha256 parse(String text) {
        boolean valid = text.length() == 2 * LENGTH && Hex.decode(text) != null;
        return valid ? new Sha256(text) : null;
    }

    /** A hash to feed piece by piece. */
    public static MessageDigest newHash() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("the platform lacks SHA-256", missing);
        }
    }

    @Override
    public int compareTo(Sha256 other) {
        return digits.compareTo(other.digits);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Sha256 && digits.equals(((Sha256) other).digits);
    }

    @Override
    public int hashCode() {
        return digits.hashCode();
    }

    @Override
    public String toString() {
        return digits;
    }
}
