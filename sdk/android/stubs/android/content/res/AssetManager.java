/** For tests: assets in memory. */
package android.content.res;

import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.TreeMap;

public final class AssetManager {
    /** Assets by name; null is one that cannot be read. */
    public final Map<String, byte[]> files = new TreeMap<String, byte[]>();

    public InputStream open(String name) throws IOException {
        if (!files.containsKey(name)) {
            throw new FileNotFoundException(name);
        } else if (files.get(name) == null) {
            throw new IOException("damaged");
        }
        return new ByteArrayInputStream(files.get(name));
    }
}
