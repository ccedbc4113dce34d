/** Identifies a store binary. Every difference makes it another one. */
package dev.launchway.core.boot;

import dev.launchway.core.json.JsonValue;

public final class Binary {
    /** The version code. */
    public final String code;
    /** The version name. */
    public final String name;
    /** When it was installed, in milliseconds since 1970. */
    public final long installedAt;

    public Binary(String code, String name, long installedAt) {
        this.code = code;
        this.name = name;
        // A clock that was wrong at the installation must not produce a time that no file can hold.
        this.installedAt = Math.max(0, Math.min(installedAt, JsonValue.MAX_INTEGER));
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof Binary)) {
            return false;
        }
        Binary that = (Binary) other;
        return code.equals(that.code) && name.equals(that.name) && installedAt == that.installedAt;
    }

    @Override
    public int hashCode() {
        return code.hashCode();
    }
}
