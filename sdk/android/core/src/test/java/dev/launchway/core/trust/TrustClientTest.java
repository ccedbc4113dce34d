/** What a phone trusts survives restarts, hostile storage and hostile files. */
package dev.launchway.core.trust;

import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.json.JsonWriter;
import dev.launchway.core.testing.Check;
import dev.launchway.core.text.Utf8;
import dev.launchway.core.trust.metadata.Metadata;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;

public final class TrustClientTest {
    private static final long DAY = 24L * 60 * 60 * 1000;

    public void changedFilesAreNeverTrusted() throws Exception {
        Scenario scenario = new Scenario(0);
        Set<String> signed = new HashSet<String>();
        for (byte[] file : scenario.files.values()) {
            JsonValue content = JsonReader.read(file, 1 << 16).get("signed");
            signed.add(Utf8.decode(JsonWriter.canonical(content)));
        }
        Random random = new Random(7);
        Object[] names = scenario.files.keySet().toArray();
        for (int round = 0; round < 150; round++) {
            String name = (String) names[random.nextInt(names.length)];
            byte[] original = scenario.files.get(name);
            scenario.files.put(name, changed(original, random));
            TrustClient client = scenario.open(null);
            String outcome = scenario.renew(client, scenario.now);
            scenario.files.put(name, original);
            String role = name.replaceAll("^[0-9]+\\.|\\.json$", "");
            Check.that(outcome.equals("accepted") || outcome.startsWith(role + " "), name + ": " + outcome);
            for (Metadata<?> file : trustedFiles(client)) {
                Check.that(file == null || signed.contains(Utf8.decode(file.message())), "only signed content");
            }
        }
    }

    private static byte[] changed(byte[] original, Random random) {
        byte[] bytes = original.clone();
        int at = random.nextInt(bytes.length);
        if (random.nextInt(8) == 0) {
            return Arrays.copyOf(bytes, at);
        }
        bytes[at] = (byte) "{}[]\",:0129afz \\\u007f".charAt(random.nextInt(17));
        return bytes;
    }

    private static Iterable<Metadata<?>> trustedFiles(TrustClient client) {
        TrustedMetadata trusted = client.trusted();
        return Arrays.<Metadata<?>>asList(
                trusted.root(),
                trusted.timestamp(),
                trusted.snapshot(),
                trusted.targets(),
                trusted.role("c-production"));
    }

    public void storedFilesThatDoNotVerifyAreDropped() throws Exception {
        Scenario scenario = new Scenario(0);
        TrustClient client = scenario.open(null);
        Check.equal("accepted", scenario.renew(client, scenario.now));
        String stored = client.storedTrust().toJson();
        Check.that(scenario.open(StoredTrust.parse(stored)).snapshotVersion() > 0, "kept");
        String changed = stored.replace("\\\"version\\\": 1795168800", "\\\"version\\\": 1795168801");
        Check.that(!changed.equals(stored), "changed");
        TrustClient reopened = scenario.open(StoredTrust.parse(changed));
        Check.equal(0L, reopened.snapshotVersion(), "dropped");
        Check.equal("accepted", scenario.renew(reopened, scenario.now), "fetched again");
    }

    public void storageThatIsNoneIsRefused() throws Exception {
        Scenario scenario = new Scenario(0);
        String stored = scenario.open(null).storedTrust().toJson();
        String[] texts = {"", "{}", "[]", "null", stored.substring(1), stored.replace("\"floors\":{}", "\"floors\":[]")};
        for (String text : texts) {
            try {
                StoredTrust.parse(text);
            } catch (FormException refused) {
                continue;
            }
            throw new AssertionError("read: " + text);
        }
    }

    public void storedRootsCountOnlyIfTheirChainContainsTheEmbeddedOne() throws Exception {
        Scenario scenario = new Scenario(1);
        TrustClient client = scenario.open(null);
        Check.equal("accepted", scenario.renew(client, scenario.now));
        Check.equal(2L, client.rootVersion());
        String stored = client.storedTrust().toJson();
        Check.equal(2L, scenario.open(StoredTrust.parse(stored)).rootVersion(), "the chain is known");
        String other = stored.replaceFirst("\"lineage\":\\{\"1\":\"[0-9a-f]{4}", "\"lineage\":{\"1\":\"0000");
        Check.equal(1L, scenario.open(StoredTrust.parse(other)).rootVersion(), "another chain");
    }

    public void anotherRepositoryKeepsNothing() throws Exception {
        Scenario scenario = new Scenario(0);
        TrustClient client = scenario.open(null);
        scenario.renew(client, scenario.now);
        String repository = "\"repository\":\"" + scenario.embedded.repository;
        String other = client.storedTrust().toJson().replace(repository, "\"repository\":\"" + repeated("08", 16));
        Check.equal(0L, scenario.open(StoredTrust.parse(other)).snapshotVersion());
    }

    public void aRootOfAnotherAppIsRefused() throws Exception {
        Scenario scenario = new Scenario(0);
        TrustClient.open(scenario.embedded, "Com.Example.APP", "production", null);
        try {
            TrustClient.open(scenario.embedded, "com.example.other", "production", null);
        } catch (RoleException refused) {
            Check.equal("other-repository-or-app", refused.code());
            return;
        }
        throw new AssertionError("opened");
    }

    public void metadataIsFetchedWhenItIsNewerAndOnceADay() throws Exception {
        Scenario scenario = new Scenario(0);
        TrustClient client = scenario.open(null);
        scenario.renew(client, scenario.now);
        long snapshot = client.snapshotVersion();
        long now = scenario.now;
        Check.that(!client.isBehind(1, snapshot, now, now), "current");
        Check.that(client.isBehind(2, snapshot, now, now), "a newer root");
        Check.that(client.isBehind(1, snapshot + 1, now, now), "a newer snapshot");
        Check.that(!client.isBehind(1, snapshot, now, now + DAY - 1), "within a day");
        Check.that(client.isBehind(1, snapshot, now, now + DAY), "after a day");
        Check.that(client.isBehind(1, snapshot, now, now - 1), "after a clock was set back");
        Check.that(client.isBehind(1, snapshot, 0, Long.MAX_VALUE), "at the end of time");
    }

    public void aTrustFileWithAnUnknownFieldIsRefused() throws Exception {
        Scenario scenario = new Scenario(0);
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.putAll(scenario.content.get("embedded").asObject());
        TrustFile.parse(Utf8.encode(JsonWriter.ascii(JsonValue.object(members))));
        members.put("forbidden", JsonValue.NULL);
        try {
            TrustFile.parse(Utf8.encode(JsonWriter.ascii(JsonValue.object(members))));
        } catch (FormException refused) {
            return;
        }
        throw new AssertionError("read");
    }

    public void anAnswerHasAtMost16Roots() throws Exception {
        String sixteen = "{\"roots\":[\"\"" + repeated(",\"\"", 15) + "]}";
        Check.that(TrustAnswer.parse(Utf8.encode(sixteen)).isFullOfRoots(), "full");
        try {
            TrustAnswer.parse(Utf8.encode(sixteen.replace("[", "[\"\",")));
        } catch (FormException refused) {
            return;
        }
        throw new AssertionError("read");
    }

    private static String repeated(String text, int count) {
        StringBuilder all = new StringBuilder();
        for (int index = 0; index < count; index++) {
            all.append(text);
        }
        return all.toString();
    }
}
