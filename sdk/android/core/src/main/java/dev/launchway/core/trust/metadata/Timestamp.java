/** What a timestamp says: the version of the snapshot. */
package dev.launchway.core.trust.metadata;

import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;

public final class Timestamp {
    public static final MetadataType<Timestamp> TYPE = new MetadataType<Timestamp>("timestamp", 4 << 10) {
        @Override
        Timestamp read(Fields signed) throws FormException {
            return new Timestamp(signed);
        }
    };

    public final MetaFile snapshot;

    private Timestamp(Fields signed) throws FormException {
        snapshot = new MetaFile(signed.object("meta").value("snapshot.json"));
    }
}
