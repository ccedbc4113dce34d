/** A type of metadata: what its files say beyond the fields that all types share. */
package dev.launchway.core.trust.metadata;

import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;

public abstract class MetadataType<T> {
    /** The value of `_type`. */
    public final String name;
    /** The most bytes that a file of this type has. */
    public final int limit;

    MetadataType(String name, int limit) {
        this.name = name;
        this.limit = limit;
    }

    abstract T read(Fields signed) throws FormException;
}
