/** Reads the vectors that all clients share (`sdk/vectors`). */
package dev.launchway.core.testing;

import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

public final class Vectors {
    private static final int MAX_BYTES = 8 << 20;

    private Vectors() {}

    /** The file at this path below `sdk/vectors`. */
    public static JsonValue read(String path) throws Exception {
        return JsonReader.read(bytes(new File(System.getProperty("launchway.vectors"), path)), MAX_BYTES);
    }

    private static byte[] bytes(File file) throws IOException {
        byte[] bytes = new byte[(int) file.length()];
        try (InputStream input = new FileInputStream(file)) {
            int length = 0;
            while (length < bytes.length) {
                int count = input.read(bytes, length, bytes.length - length);
                if (count < 0) {
                    return Arrays.copyOf(bytes, length);
                }
                length += count;
            }
        }
        return bytes;
    }
}
