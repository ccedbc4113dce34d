/** Keys and signatures in `sdk/vectors/trust` count or do not count as the vectors say. */
package dev.launchway.core.trust.keys;

import dev.launchway.core.json.JsonValue;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.Vectors;
import dev.launchway.core.text.Hex;
import dev.launchway.core.text.Utf8;
import java.util.List;

public final class SignatureVectorsTest {
    public void signaturesVerifyAsTheVectorsSay() throws Exception {
        JsonValue vectors = Vectors.read("trust/signatures.json");
        PublicKey key = PublicKey.fromPem(vectors.get("publicKey").asText());
        PublicKey offCurve = PublicKey.fromPem(vectors.get("publicKeys").get("verifiesNothing").asText());
        List<JsonValue> cases = vectors.get("signatures").asArray();
        Check.that(cases.size() >= 20, "the vectors are complete");
        for (JsonValue vector : cases) {
            byte[] message = Utf8.encode(vector.get("message").asText());
            byte[] der = Hex.decode(vector.get("signature").asText());
            boolean valid = der != null && key.verifies(message, der);
            Check.equal(vector.get("valid").asBoolean(), valid, vector.get("name").asText());
            Check.that(der == null || !offCurve.verifies(message, der), "nothing verifies under a point off the curve");
        }
    }

    public void everySpellingOfAKeyIsOneKey() throws Exception {
        JsonValue vectors = Vectors.read("trust/signatures.json");
        PublicKey key = PublicKey.fromPem(vectors.get("publicKey").asText());
        for (JsonValue pem : vectors.get("publicKeys").get("accepted").asArray()) {
            Check.equal(key, PublicKey.fromPem(pem.asText()));
            Check.equal(key.id(), PublicKey.fromPem(pem.asText()).id());
        }
    }

    public void otherKeysAreRefused() throws Exception {
        for (JsonValue vector : Vectors.read("trust/signatures.json").get("publicKeys").get("refused").asArray()) {
            PublicKey key = PublicKey.fromPem(vector.get("pem").asText());
            Check.equal(null, key, vector.get("name").asText());
        }
    }

    public void aChangedSignatureNeverVerifies() throws Exception {
        JsonValue vectors = Vectors.read("trust/signatures.json");
        PublicKey key = PublicKey.fromPem(vectors.get("publicKey").asText());
        JsonValue vector = vectors.get("signatures").asArray().get(0);
        byte[] message = Utf8.encode(vector.get("message").asText());
        byte[] der = Hex.decode(vector.get("signature").asText());
        for (int bit = 0; bit < 8 * der.length; bit++) {
            byte[] changed = der.clone();
            changed[bit / 8] ^= (byte) (1 << bit % 8);
            Check.that(!key.verifies(message, changed), "bit " + bit);
        }
    }
}
