/** Whatever JSON a server sends or a disk contains, a round ends as it should, and what runs stays. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Content;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.json.JsonWriter;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.FakeServer;
import dev.launchway.core.testing.MemoryDisk;
import dev.launchway.core.testing.Phone;
import dev.launchway.core.testing.Update;
import dev.launchway.core.testing.Vectors;
import dev.launchway.core.text.Utf8;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

public final class HostileJsonTest {
    private static final int MUTATIONS = 400;
    private static final String LETTERS = "{}[]\",:0129aeE-+.fz \\\u007f";
    /** Members of an offer that may have any form, or be missing. */
    private static final Set<String> FREE =
            new HashSet<String>(Arrays.asList("mandatory", "releaseNotes", "reportToken", "compatibilityReason"));

    private final MemoryDisk disk = LivesTest.diskWithFirstUpdate();
    private final FakeServer server = new FakeServer(Update.number(2));

    public HostileJsonTest() throws Exception {}

    private static Content start(Device device) {
        return device.start(Phone.launch(Ending.EXPLAINED)).content;
    }

    /** The kind of the outcome or the failure of a round, after which the first update still runs. */
    private String round() throws Exception {
        MemoryDisk copy = disk.copy();
        try (Device device = new Phone(copy).process(server)) {
            Check.equal(Update.number(1).content(), start(device));
            String kind;
            try {
                kind = device.sync(Phone.NOBODY).kind.name();
            } catch (SyncException failure) {
                kind = failure.kind.name();
            }
            Content next = kind.equals("STAGED") ? Update.number(2).content() : Update.number(1).content();
            Check.equal(next, start(device), kind);
            return kind;
        }
    }

    public void answersThatAreNoJsonChangeNothing() throws Exception {
        List<byte[]> texts = Vectors.hostileTexts();
        Check.that(texts.size() >= 160, texts.size() + " texts");
        for (byte[] text : texts) {
            server.says = text;
            Check.equal("CHECK", round(), Utf8.decode(text));
        }
    }

    /** Values of every form, none of which any member of an offer has to have. */
    private static Map<String, JsonValue> wrongValues() {
        Map<String, JsonValue> values = new LinkedHashMap<String, JsonValue>();
        values.put("null", JsonValue.NULL);
        values.put("a number", JsonValue.of(-1));
        values.put("the largest number", JsonValue.of(JsonValue.MAX_INTEGER));
        values.put("an empty text", JsonValue.of(""));
        values.put("another text", JsonValue.of("\u0000../\ud83d\ude00"));
        values.put("a long text", JsonValue.of(new String(new char[100_000]).replace('\0', '9')));
        values.put("an array", JsonValue.texts(Arrays.asList("a")));
        values.put("an object", JsonValue.object(JsonValue.newMembers()));
        return values;
    }

    public void offersWithAWrongMemberAreRefused() throws Exception {
        int cases = 0;
        for (String member : Update.number(2).answer().keySet()) {
            for (Map.Entry<String, JsonValue> wrong : wrongValues().entrySet()) {
                Map<String, JsonValue> answer = Update.number(2).answer();
                answer.put(member, wrong.getValue());
                expectRefusal(member, answer, member + " is " + wrong.getKey());
                cases++;
            }
            Map<String, JsonValue> answer = Update.number(2).answer();
            answer.remove(member);
            expectRefusal(member, answer, member + " is missing");
        }
        Check.that(cases >= 60, cases + " cases");
    }

    private void expectRefusal(String member, Map<String, JsonValue> answer, String about) throws Exception {
        server.says = Utf8.encode(JsonWriter.ascii(JsonValue.object(answer)));
        boolean isFree = FREE.contains(member) || (member.equals("id") && answer.get("id") != null
                && answer.get("id").asText() != null);
        String kind = round();
        Check.that(kind.equals("CHECK") || (isFree && kind.equals("STAGED")), about + ": " + kind);
    }

    public void changedAnswersAreUnderstoodOrRefused() throws Exception {
        byte[] answer = Utf8.encode(JsonWriter.ascii(JsonValue.object(Update.number(2).answer())));
        Random random = new Random(7);
        Set<String> kinds = new HashSet<String>();
        for (int count = 0; count < MUTATIONS; count++) {
            server.says = changed(answer, random);
            kinds.add(round());
        }
        kinds.removeAll(Arrays.asList("CHECK", "STAGED", "DOWNLOAD", "NOTHING", "STORE_UPDATE_REQUIRED"));
        Check.equal("[]", kinds.toString());
    }

    private static byte[] changed(byte[] original, Random random) {
        byte[] bytes = original.clone();
        for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
            int at = random.nextInt(bytes.length);
            bytes[at] = (byte) LETTERS.charAt(random.nextInt(LETTERS.length()));
        }
        return random.nextInt(10) > 0 ? bytes : Arrays.copyOf(bytes, random.nextInt(bytes.length));
    }

    public void hostileFilesOfTheClientStartTheEmbeddedApp() throws Exception {
        List<byte[]> texts = Vectors.hostileTexts();
        for (byte[] text : texts) {
            MemoryDisk copy = disk.copy();
            copy.write("state.json", text);
            try (Device device = new Phone(copy).process(server)) {
                StartOutcome outcome = device.start(Phone.launch(Ending.CRASH));
                Check.equal(Content.EMBEDDED, outcome.content);
                Check.that(outcome.problem != null, "it says why");
                Check.that(Arrays.equals(text, copy.bytes("state.json")), "nothing is changed");
                expectCorrupt(device);
                start(device);
                Check.equal(SyncOutcome.Kind.STAGED, device.sync(Phone.NOBODY).kind);
                Check.equal(Update.number(2).content(), start(device));
            }
        }
    }

    private static void expectCorrupt(Device device) {
        try {
            device.sync(Phone.NOBODY);
        } catch (SyncException failure) {
            Check.equal(SyncException.Kind.CORRUPT, failure.kind);
            return;
        }
        throw new AssertionError("synced");
    }

    public void aHostileAttemptAndHostileReportsCountAsNone() throws Exception {
        for (byte[] text : Vectors.hostileTexts()) {
            MemoryDisk copy = disk.copy();
            copy.write("boot.json", text);
            copy.write("events.jsonl", text);
            copy.write("tmp/" + Update.number(2).sha256 + ".etag", text);
            try (Device device = new Phone(copy).process(server)) {
                Check.equal(Update.number(1).content(), device.start(Phone.launch(Ending.CRASH)).content);
                Check.equal(SyncOutcome.Kind.STAGED, device.sync(Phone.NOBODY).kind);
            }
        }
    }

    public void changedFilesOfTheClientNeverStopAStart() throws Exception {
        Random random = new Random(8);
        Content first = Update.number(1).content();
        for (int count = 0; count < MUTATIONS; count++) {
            MemoryDisk copy = disk.copy();
            String file = random.nextBoolean() ? "state.json" : "boot.json";
            copy.write(file, changed(disk.bytes(file), random));
            try (Device device = new Phone(copy).process(server)) {
                Content content = device.start(Phone.launch(Ending.UNEXPLAINED)).content;
                Check.that(content.isEmbedded() || content.equals(first), "something whole");
                try {
                    device.sync(Phone.NOBODY);
                } catch (SyncException failure) {
                    Check.that(failure.getMessage().length() < 300, "messages are short");
                }
                start(device);
            }
        }
    }
}
