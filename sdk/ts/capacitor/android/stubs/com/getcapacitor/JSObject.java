/** For tests: the part of the class of the same name in Capacitor that the plugin uses. */
package com.getcapacitor;

import java.util.HashMap;
import java.util.Map;

public class JSObject {
    public final Map<String, String> texts = new HashMap<>();

    public JSObject put(String key, String value) {
        texts.put(key, value);
        return this;
    }
}
