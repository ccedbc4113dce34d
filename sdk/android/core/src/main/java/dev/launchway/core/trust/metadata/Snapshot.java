/** What a snapshot says: the version of each targets role. */
package dev.launchway.core.trust.metadata;

import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonValue;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

public final class Snapshot {
    public static final MetadataType<Snapshot> TYPE = new MetadataType<Snapshot>("snapshot", 16 << 10) {
        @Override
        Snapshot read(Fields signed) throws FormException {
            return new Snapshot(signed);
        }
    };

    /** Files by name, such as `targets.json`. A role that was removed stays listed. */
    public final Map<String, MetaFile> files;

    private Snapshot(Fields signed) throws FormException {
        Map<String, MetaFile> listed = new TreeMap<String, MetaFile>();
        for (Map.Entry<String, JsonValue> entry : signed.object("meta").members().entrySet()) {
            listed.put(entry.getKey(), new MetaFile(entry.getValue()));
        }
        files = Collections.unmodifiableMap(listed);
    }

    /** What it says about the file of a targets role; null if it does not list it. */
    public MetaFile role(String name) {
        return files.get(name + ".json");
    }
}
