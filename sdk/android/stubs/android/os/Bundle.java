/** For tests: texts by name. */
package android.os;

import java.util.Map;
import java.util.TreeMap;

public final class Bundle {
    public final Map<String, String> texts = new TreeMap<String, String>();

    public String getString(String key) {
        return texts.get(key);
    }
}
