/** For tests: makes maps. */
package com.facebook.react.bridge;

import java.util.TreeMap;

public final class Arguments {
    public static WritableMap createMap() {
        return new StringMap();
    }

    private static final class StringMap extends TreeMap<String, String> implements WritableMap {
        private static final long serialVersionUID = 1;

        @Override
        public void putString(String key, String value) {
            put(key, value);
        }
    }
}
