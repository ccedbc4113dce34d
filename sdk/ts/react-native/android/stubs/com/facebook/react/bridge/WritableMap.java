/** For tests: what an event consists of. */
package com.facebook.react.bridge;

public interface WritableMap {
    void putString(String key, String value);
}
