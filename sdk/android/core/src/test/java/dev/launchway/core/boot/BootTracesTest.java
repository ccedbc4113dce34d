/** The boot machine decides at every step of every trace what the other clients decide. */
package dev.launchway.core.boot;

import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.Vectors;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.util.List;

public final class BootTracesTest {
    private static final int MAX_TRACE_BYTES = 1 << 20;

    public void everySharedTraceHasItsAnswers() throws Exception {
        List<JsonValue> traces = Vectors.read("boot-traces.json").get("traces").asArray();
        Check.that(traces.size() >= 200, "the vectors are complete");
        for (JsonValue trace : traces) {
            follow(trace);
        }
    }

    /** The client in Rust writes random traces to a file, one a line, and runs these tests. */
    public void everyRandomTraceHasItsAnswers() throws Exception {
        String file = System.getenv("LAUNCHWAY_BOOT_TRACES");
        if (file == null) {
            return;
        }
        int count = 0;
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(new FileInputStream(file), "UTF-8"))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                follow(JsonReader.read(line.getBytes("UTF-8"), MAX_TRACE_BYTES));
                count++;
            }
        }
        Check.that(count >= 10000, "the file is complete");
    }

    private static void follow(JsonValue trace) throws Exception {
        TracedApp app = new TracedApp();
        int number = 0;
        for (JsonValue step : trace.get("steps").asArray()) {
            String about = trace.get("name").asText() + ", step " + number++;
            Check.equal(step.get("expect"), app.apply(step), about);
        }
    }
}
