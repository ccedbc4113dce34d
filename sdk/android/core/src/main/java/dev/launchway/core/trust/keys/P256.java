/**
 * What of P-256 the platform's providers judge differently: which points are on the curve, and which bytes are a
 * signature. Some took a signature of zeros for one of any message.
 */
package dev.launchway.core.trust.keys;

import java.math.BigInteger;
import java.util.Arrays;

final class P256 {
    private static final BigInteger FIELD =
            new BigInteger("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff", 16);
    private static final BigInteger ORDER =
            new BigInteger("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", 16);
    private static final BigInteger B =
            new BigInteger("5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b", 16);

    private static final int SEQUENCE = 0x30;
    private static final int INTEGER = 0x02;
    /** Two integers of 33 bytes, each with a header of two. */
    private static final int MAX_CONTENT = 70;

    private P256() {}

    /** Whether an uncompressed point, `04`, X and Y, is on the curve. */
    static boolean isOnCurve(byte[] point) {
        BigInteger x = new BigInteger(1, Arrays.copyOfRange(point, 1, 33));
        BigInteger y = new BigInteger(1, Arrays.copyOfRange(point, 33, 65));
        if (x.compareTo(FIELD) >= 0 || y.compareTo(FIELD) >= 0) {
            return false;
        }
        BigInteger right = x.multiply(x).subtract(BigInteger.valueOf(3)).multiply(x).add(B);
        return y.multiply(y).subtract(right).mod(FIELD).signum() == 0;
    }

    /** Whether the bytes are the DER of two integers from 1 to the order of the curve, in its one spelling. */
    static boolean isSignature(byte[] der) {
        if (der.length < 2 || der[0] != SEQUENCE || der[1] != der.length - 2 || der[1] > MAX_CONTENT) {
            return false;
        }
        int middle = endOfInteger(der, 2);
        return middle > 0 && endOfInteger(der, middle) == der.length;
    }

    /** The offset behind the integer; -1 if there is none. */
    private static int endOfInteger(byte[] der, int start) {
        if (start + 2 > der.length || der[start] != INTEGER) {
            return -1;
        }
        int first = start + 2;
        int end = first + der[start + 1];
        if (der[start + 1] <= 0 || end > der.length) {
            return -1;
        }
        byte[] content = Arrays.copyOfRange(der, first, end);
        BigInteger value = new BigInteger(content);
        boolean shortest = Arrays.equals(value.toByteArray(), content);
        return shortest && value.signum() > 0 && value.compareTo(ORDER) < 0 ? end : -1;
    }
}
