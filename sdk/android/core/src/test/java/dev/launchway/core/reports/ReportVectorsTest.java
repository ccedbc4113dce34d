/** Reasons and stacks are cut as the vectors say. */
package dev.launchway.core.reports;

import dev.launchway.core.json.JsonValue;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.Vectors;
import java.util.List;

public final class ReportVectorsTest {
    public void longReasonsAreCut() throws Exception {
        List<JsonValue> cases = Vectors.read("reports.json").get("reasons").asArray();
        Check.that(cases.size() >= 6, "the vectors are complete");
        for (JsonValue vector : cases) {
            Report report = new Report("failed", "a", 0, Vectors.parts(vector.get("given")), null);
            Check.equal(Vectors.parts(vector.get("kept")), report.reason, vector.toString());
        }
    }

    public void longStacksAreCut() throws Exception {
        List<JsonValue> cases = Vectors.read("reports.json").get("stacks").asArray();
        Check.that(cases.size() >= 10, "the vectors are complete");
        for (JsonValue vector : cases) {
            Report report = new Report("crash", "a", 0, null, Vectors.parts(vector.get("given")));
            Check.equal(Vectors.parts(vector.get("kept")), report.stack, vector.toString());
        }
    }
}
