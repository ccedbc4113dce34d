/** An app with a root takes nothing that its developers did not sign, however the server or its own files fail. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Content;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.net.Network;
import dev.launchway.core.net.Request;
import dev.launchway.core.net.Response;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.Phone;
import dev.launchway.core.testing.Vectors;
import dev.launchway.core.text.Hex;
import dev.launchway.core.text.Utf8;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

public final class SignedTrustTest {
    /** Answers with the recorded check and package of the first trace, and with its metadata file by file. */
    private static final class FileServer implements Network {
        final Map<String, byte[]> files = new TreeMap<String, byte[]>();
        final List<String> requests = new ArrayList<String>();
        /** The status of the answer in one trip. */
        int oneTripStatus = 404;
        byte[] oneTrip = new byte[0];

        private final byte[] check;
        private final byte[] packed;

        FileServer(List<JsonValue> bodies) throws Exception {
            check = Utf8.encode(bodies.get(0).asText());
            packed = Hex.decode(bodies.get(2).get("hex").asText());
            JsonValue answer = JsonReader.read(Utf8.encode(bodies.get(1).asText()), 1 << 20);
            put("timestamp.json", answer.get("timestamp"));
            put("1795255201.snapshot.json", answer.get("snapshot"));
            put("1.targets.json", answer.get("targets"));
            put("2.c-production.json", answer.get("delegated").get("c-production"));
        }

        private void put(String name, JsonValue text) {
            files.put(name, Utf8.encode(text.asText()));
        }

        @Override
        public Response send(Request request) throws IOException {
            requests.add(request.url);
            String file = request.url.replaceFirst("^https://host/tuf/com.example.app/", "");
            if (file.startsWith("trust?")) {
                return answer(oneTripStatus, oneTrip);
            } else if (!file.equals(request.url)) {
                return files.containsKey(file) ? answer(200, files.get(file)) : answer(404, new byte[0]);
            }
            boolean isCheck = request.url.contains("/update/check/");
            return answer(200, request.body != null ? new byte[0] : isCheck ? check : packed);
        }

        private static Response answer(int status, byte[] body) {
            Map<String, List<String>> headers = Collections.emptyMap();
            return new Response(status, headers, new ByteArrayInputStream(body));
        }

        @Override
        public boolean isUnmetered() {
            return true;
        }
    }

    private final Phone phone = new Phone();
    private final FileServer server;

    public SignedTrustTest() throws Exception {
        JsonValue vectors = Vectors.read("signed-rounds.json");
        JsonValue trace = vectors.get("traces").asArray().get(0);
        server = new FileServer(vectors.get("bodies").asArray());
        phone.trustFile = Utf8.encode(trace.get("trustFile").asText());
        phone.builtAt = trace.get("builtAt").asInteger();
        phone.clock.now = phone.builtAt;
    }

    public void metadataIsFetchedFileByFileWhereThereIsNoOneTrip() throws Exception {
        Check.equal("STAGED", round());
        Check.that(server.requests.contains("https://host/tuf/com.example.app/2.root.json"), "asked for the next root");
        Check.that(start().slot() != null, "the update runs");
    }

    public void anAnswerThatIsNoMetadataMakesTheClientAskForFiles() throws Exception {
        server.oneTripStatus = 200;
        server.oneTrip = Utf8.encode("<html>");
        Check.equal("STAGED", round());
    }

    public void aServerErrorEndsTheRoundWithoutARefusal() throws Exception {
        server.oneTripStatus = 500;
        Check.equal("UNVERIFIED null", round());
        Check.that(!server.requests.toString().contains("/update/report/"), "nothing to report");
    }

    public void anEndlessFileOfMetadataIsRefused() throws Exception {
        server.files.put("timestamp.json", new byte[8 << 20]);
        Check.equal("UNVERIFIED malformed", round());
    }

    public void anUnreadableTrustFileTakesAndStartsNothing() throws Exception {
        Check.equal("STAGED", round());
        Check.that(start().slot() != null, "the update runs");
        for (String text : new String[] {"", "{}", "{\"root\":\"{}\"}", new String(new char[300_000])}) {
            phone.trustFile = Utf8.encode(text);
            Check.equal(Content.EMBEDDED, start());
            Check.equal("UNVERIFIED malformed", round());
        }
    }

    public void aConfigurationThatIsNoneTakesNothing() throws Exception {
        phone.settings.configuration = "../production";
        Check.equal("UNVERIFIED malformed", round());
    }

    public void whatWasLearnedIsKeptWhenALaterFileIsRefused() throws Exception {
        byte[] role = server.files.put("2.c-production.json", Utf8.encode("{}"));
        Check.equal("UNVERIFIED malformed", round());
        server.files.put("2.c-production.json", role);
        server.requests.clear();
        Check.equal("STAGED", round());
        Check.that(!server.requests.toString().contains("snapshot.json"), "the snapshot was kept");
    }

    private Content start() throws IOException {
        try (Device device = phone.process(server)) {
            return device.start(Phone.launch(Ending.EXPLAINED)).content;
        }
    }

    /** The kind of the outcome, or of the failure with the code of the refusal. */
    private String round() throws Exception {
        start();
        try (Device device = phone.process(server)) {
            return device.sync(Phone.NOBODY).kind.name();
        } catch (SyncException failure) {
            TrustException cause = (TrustException) failure.getCause();
            return failure.kind + " " + (cause.refusal() == null ? null : cause.refusal().code());
        }
    }
}
