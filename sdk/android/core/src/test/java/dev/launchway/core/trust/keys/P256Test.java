/** What of P-256 is checked before a provider of the platform is asked, because providers differ. */
package dev.launchway.core.trust.keys;

import dev.launchway.core.json.JsonValue;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.Vectors;
import dev.launchway.core.text.Hex;

public final class P256Test {
    private static final String ORDER = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
    private static final String BELOW_ORDER = ORDER.substring(0, 63) + "0";

    public void theFormOfValidSignaturesIsTaken() throws Exception {
        for (JsonValue vector : Vectors.read("trust/signatures.json").get("signatures").asArray()) {
            if (vector.get("valid").asBoolean()) {
                Check.that(isSignature(vector.get("signature").asText()), vector.get("name").asText());
            }
        }
        Check.that(isSignature("3006020101020101"), "the smallest numbers");
        Check.that(isSignature("3046022100" + BELOW_ORDER + "022100" + BELOW_ORDER), "the largest numbers");
    }

    public void everyOtherFormIsRefused() {
        String[] cases = {
            "", "30", "3000", "3003020101", "3006020100020101", "3006020101020100", "3006020101020181",
            "300702020001020101", "3006030101020101", "3106020101020101", "3006020101030101", "30060201010201",
            "300602010102010100", "3007020101020101", "300602010102010101", "3008020101020101020101", "300402000200",
            "308106020101020101", "3006028101020101", "30060201010202", "3080020101020101", "30060201ff020101",
            "3026022100" + ORDER + "020101", "3026020101022100" + ORDER,
        };
        for (String digits : cases) {
            Check.that(!isSignature(digits), digits);
        }
    }

    public void onlyPointsOfTheCurveAreOnIt() {
        String x = "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";
        String y = "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";
        Check.that(isOnCurve(x, y), "the generator");
        Check.that(!isOnCurve(x, y.substring(0, 63) + "4"), "beside the curve");
        Check.that(!isOnCurve(y, x), "swapped");
        String zero = "0000000000000000000000000000000000000000000000000000000000000000";
        Check.that(!isOnCurve(zero, zero), "zeros");
        // The same point, with a field element that is not the smallest: x = 5 is on the curve, and so would be x = 5 + p.
        String root = "459243b9aa581806fe913bce99817ade11ca503c64d9a3c533415c083248fbcc";
        String five = zero.substring(0, 63) + "5";
        String fiveAbove = "ffffffff00000001000000000000000000000001000000000000000000000004";
        Check.that(isOnCurve(five, root), "a small number");
        Check.that(!isOnCurve(fiveAbove, root), "above the field");
    }

    private static boolean isSignature(String digits) {
        return P256.isSignature(Hex.decode(digits));
    }

    private static boolean isOnCurve(String x, String y) {
        return P256.isOnCurve(Hex.decode("04" + x + y));
    }
}
