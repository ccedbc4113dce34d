/** The boot machine decides at every step of every shared trace what the other clients decide. */
package dev.launchway.core.boot;

import dev.launchway.core.json.JsonValue;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.Vectors;
import java.util.List;

public final class BootTracesTest {
    public void everyTraceHasItsAnswers() throws Exception {
        List<JsonValue> traces = Vectors.read("boot-traces.json").get("traces").asArray();
        Check.that(traces.size() >= 200, "the vectors are complete");
        for (JsonValue trace : traces) {
            TracedApp app = new TracedApp();
            int number = 0;
            for (JsonValue step : trace.get("steps").asArray()) {
                String about = trace.get("name").asText() + ", step " + number++;
                Check.equal(step.get("expect"), app.apply(step), about);
            }
        }
    }
}
