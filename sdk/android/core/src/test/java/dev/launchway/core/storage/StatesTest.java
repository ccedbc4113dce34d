/** Every client reads and writes the same `state.json`. */
package dev.launchway.core.storage;

import dev.launchway.core.json.JsonValue;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.MemoryDisk;
import dev.launchway.core.testing.Vectors;
import dev.launchway.core.text.Utf8;
import java.util.List;

public final class StatesTest {
    private final MemoryDisk disk = new MemoryDisk();

    private Found<State> load(JsonValue vector) throws Exception {
        disk.write("state.json", Utf8.encode(vector.get("text").asText()));
        return StateFiles.loadState(disk);
    }

    public void statesAreReadAndWrittenAsTheVectorsSay() throws Exception {
        for (JsonValue vector : Vectors.read("states.json").get("read").asArray()) {
            State state = load(vector).content();
            Check.that(state != null, "read: " + vector.get("name"));
            StateFiles.saveState(disk, state);
            String written = Utf8.decode(disk.bytes("state.json"));
            Check.equal(vector.get("written").asText(), written, vector.get("name").asText());
        }
    }

    public void corruptStatesAreRefused() throws Exception {
        List<JsonValue> cases = Vectors.read("states.json").get("corrupt").asArray();
        Check.that(cases.size() >= 75, "the vectors are complete");
        for (JsonValue vector : cases) {
            Check.that(load(vector).isCorrupt(), "corrupt: " + vector.get("name"));
        }
    }
}
