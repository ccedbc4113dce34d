/**
 * The answer to `/tuf/{bundleId}/trust`: everything that is newer than what a client has, in one trip
 * (docs/reference/trust.md#one-trip). The server writes it, and nothing of it is trusted.
 */
package dev.launchway.core.trust;

import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonReader;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

public final class TrustAnswer {
    /** The most bytes that are read: all files at their limits, each escaped. */
    public static final int MAX_BYTES = 2 << 20;
    /** Who has more roots to go asks again. */
    private static final int MAX_ROOTS = 16;

    /** The roots above the client's, in order. */
    final List<String> roots;

    private final Map<String, String> topLevel = new TreeMap<String, String>();
    private final Map<String, String> delegated = new TreeMap<String, String>();

    private TrustAnswer(Fields fields) throws FormException {
        roots = fields.has("roots") ? fields.texts("roots") : Collections.<String>emptyList();
        if (roots.size() > MAX_ROOTS) {
            throw FormException.ofField("roots");
        }
        for (String name : new String[] {"timestamp", "snapshot", "targets"}) {
            if (fields.has(name)) {
                topLevel.put(name, fields.text(name));
            }
        }
        if (fields.has("delegated")) {
            Fields files = fields.object("delegated");
            for (String name : files.members().keySet()) {
                delegated.put(name, files.text(name));
            }
        }
    }

    /** Reads an answer. Fields that are not known are left alone. */
    public static TrustAnswer parse(byte[] bytes) throws FormException {
        return new TrustAnswer(Fields.of(JsonReader.read(bytes, MAX_BYTES), "answer"));
    }

    boolean isFullOfRoots() {
        return roots.size() == MAX_ROOTS;
    }

    /** The text of a file other than a root; null if the answer lacks it. */
    String file(FileRequest request) {
        return (request.kind == FileRequest.Kind.ROLE ? delegated : topLevel).get(request.role());
    }
}
