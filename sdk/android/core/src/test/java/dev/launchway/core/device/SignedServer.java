/** A server with the signed update of the first trace of `sdk/vectors/signed-rounds.json`, and its metadata as files. */
package dev.launchway.core.device;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.json.JsonException;
import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.json.JsonWriter;
import dev.launchway.core.net.Network;
import dev.launchway.core.net.Request;
import dev.launchway.core.net.Response;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.testing.FakeServer;
import dev.launchway.core.testing.MemoryDisk;
import dev.launchway.core.testing.Phone;
import dev.launchway.core.testing.Vectors;
import dev.launchway.core.text.Hex;
import dev.launchway.core.text.Utf8;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

final class SignedServer implements Network {
    private static final String METADATA = "https://host/tuf/com.example.app/";
    private static final String NOTHING = "{\"updateAvailable\":false,\"message\":\"No update\",\"reportToken\":\"token\"}";

    final Map<String, byte[]> files = new TreeMap<String, byte[]>();
    final List<String> requests = new ArrayList<String>();
    /** The status of the answer in one trip. */
    int oneTripStatus = 404;
    byte[] oneTrip = new byte[0];
    /** The digest of the update's package. */
    final Sha256 sha256;

    private final JsonValue answer;
    private final JsonValue trace;
    private final byte[] check;
    private final byte[] packed;

    SignedServer() throws Exception {
        JsonValue vectors = Vectors.read("signed-rounds.json");
        trace = vectors.get("traces").asArray().get(0);
        List<JsonValue> bodies = vectors.get("bodies").asArray();
        check = Utf8.encode(bodies.get(0).asText());
        packed = Hex.decode(bodies.get(2).get("hex").asText());
        sha256 = Sha256.of(packed);
        answer = JsonReader.read(Utf8.encode(bodies.get(1).asText()), 1 << 20);
        put("timestamp.json", answer.get("timestamp"));
        put("1795255201.snapshot.json", answer.get("snapshot"));
        put("1.targets.json", answer.get("targets"));
        put("2.c-production.json", answer.get("delegated").get("c-production"));
    }

    private void put(String name, JsonValue text) {
        files.put(name, Utf8.encode(text.asText()));
    }

    /** A phone with the app that carries the root, at the time when it was built. */
    Phone phone(Storage storage) {
        Phone phone = new Phone(storage);
        phone.trustFile = Utf8.encode(trace.get("trustFile").asText());
        phone.builtAt = trace.get("builtAt").asInteger();
        phone.clock.now = phone.builtAt;
        return phone;
    }

    /** Everything in one trip but the role that signs the update. */
    byte[] oneTripWithoutRole() {
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.putAll(answer.asObject());
        members.put("delegated", JsonValue.object(JsonValue.newMembers()));
        return Utf8.encode(JsonWriter.ascii(JsonValue.object(members)));
    }

    /** The trust that a phone has stored. */
    JsonValue stored(MemoryDisk disk) {
        try {
            JsonValue state = JsonReader.read(disk.bytes("state.json"), 1 << 20);
            return JsonReader.read(Utf8.encode(state.get("trust").get("stored").asText()), 1 << 20);
        } catch (JsonException corrupt) {
            throw new AssertionError("the state is corrupt", corrupt);
        }
    }

    @Override
    public Response send(Request request) throws IOException {
        requests.add(request.url);
        if (request.url.startsWith(METADATA)) {
            return metadata(request.url.substring(METADATA.length()));
        } else if (request.body != null) {
            return FakeServer.answer(200, Utf8.encode("{}"));
        } else if (request.url.contains("/update/check/")) {
            boolean isUpdated = request.url.contains("currentUpdateId=update_1");
            return FakeServer.answer(200, isUpdated ? Utf8.encode(NOTHING) : check);
        }
        return FakeServer.whole(request, packed);
    }

    private Response metadata(String file) {
        if (file.startsWith("trust?")) {
            return FakeServer.answer(oneTripStatus, oneTrip);
        }
        return files.containsKey(file)
                ? FakeServer.answer(200, files.get(file))
                : FakeServer.answer(404, new byte[0]);
    }

    @Override
    public boolean isUnmetered() {
        return true;
    }
}
