/** Public keys: ECDSA on P-256, as PEM of a SubjectPublicKeyInfo (docs/reference/trust.md#keys). */
package dev.launchway.core.trust.keys;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.json.JsonWriter;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;

public final class PublicKey {
    public static final String KEY_TYPE = "ecdsa";
    public static final String SCHEME = "ecdsa-sha2-nistp256";

    private static final String LABEL = "PUBLIC KEY";
    /** What precedes the point in the DER of every P-256 key: algorithm, curve, and the header of the bit string. */
    private static final byte[] INFO_PREFIX = {
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
        (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    };
    /** An uncompressed point: `04`, X and Y. */
    private static final int POINT_BYTES = 65;

    private final byte[] info;

    private PublicKey(byte[] info) {
        this.info = info;
    }

    /**
     * Reads PEM of a SubjectPublicKeyInfo; null for any other form, algorithm or curve, and a compressed point. A point
     * outside the curve is read, and verifies nothing.
     */
    public static PublicKey fromPem(String text) {
        byte[] der = Pem.decode(text, LABEL);
        if (der == null || der.length != INFO_PREFIX.length + POINT_BYTES || der[INFO_PREFIX.length] != 4) {
            return null;
        }
        boolean isP256 = Arrays.equals(Arrays.copyOf(der, INFO_PREFIX.length), INFO_PREFIX);
        return isP256 ? new PublicKey(der) : null;
    }

    /** The id under which Launchway lists the key: the SHA-256 of its canonical form. Readers treat ids as opaque. */
    public String id() {
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.put("keytype", JsonValue.of(KEY_TYPE));
        members.put("scheme", JsonValue.of(SCHEME));
        JsonValue pem = JsonValue.of(Pem.encode(info, LABEL));
        members.put("keyval", JsonValue.object(Collections.singletonMap("public", pem)));
        return Sha256.of(JsonWriter.canonical(JsonValue.object(members))).toString();
    }

    /** Whether {@code signature}, in DER, is one of this key over {@code message}. */
    public boolean verifies(byte[] message, byte[] signature) {
        byte[] point = Arrays.copyOfRange(info, INFO_PREFIX.length, info.length);
        if (!P256.isSignature(signature) || !P256.isOnCurve(point)) {
            return false;
        }
        try {
            Signature verifier = Signature.getInstance("SHA256withECDSA");
            verifier.initVerify(KeyFactory.getInstance("EC").generatePublic(new X509EncodedKeySpec(info)));
            verifier.update(message);
            return verifier.verify(signature);
        } catch (GeneralSecurityException refused) {
            return false;
        } catch (RuntimeException refused) {
            // Some providers of old versions of Android throw these instead.
            return false;
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PublicKey && Arrays.equals(info, ((PublicKey) other).info);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(info);
    }
}
