/** Preferences in memory. Like those of Android they remember what the disk refused. */
package dev.launchway.capacitor;

import android.content.SharedPreferences;
import java.util.HashMap;
import java.util.Map;

final class MemoryPreferences implements SharedPreferences {
    final Map<String, String> values = new HashMap<>();
    int commits;
    boolean diskIsFull;

    @Override
    public Editor edit() {
        return new Editor() {
            private final Map<String, String> changes = new HashMap<>();

            @Override
            public Editor putString(String key, String value) {
                changes.put(key, value);
                return this;
            }

            @Override
            public boolean commit() {
                values.putAll(changes);
                commits++;
                return !diskIsFull;
            }
        };
    }

    @Override
    public String getString(String key, String otherwise) {
        return values.getOrDefault(key, otherwise);
    }
}
