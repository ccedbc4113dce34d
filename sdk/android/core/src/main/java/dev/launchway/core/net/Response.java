/** The response of a server. */
package dev.launchway.core.net;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;

public final class Response implements Closeable {
    private static final int CHUNK = 8 << 10;
    /** The longest that a server can postpone the next request, in seconds. */
    private static final long MAX_RETRY_AFTER = 3600;

    public final int status;
    /** The body, read as it arrives. */
    public final InputStream body;

    private final Map<String, List<String>> headers;

    /** {@code headers} are the values of each field by its name, which may be null for the status line. */
    public Response(int status, Map<String, List<String>> headers, InputStream body) {
        this.status = status;
        this.headers = headers;
        this.body = body;
    }

    /** The value of a header field, whatever the case of its name. Null for one that is missing or occurs twice. */
    public String header(String name) {
        String found = null;
        for (Map.Entry<String, List<String>> field : headers.entrySet()) {
            if (!name.equalsIgnoreCase(field.getKey())) {
                continue;
            }
            for (String value : field.getValue()) {
                if (found != null) {
                    return null;
                }
                found = value.trim();
            }
        }
        return found;
    }

    /** `Retry-After` in seconds, at most an hour; -1 if the server does not say. */
    public long retryAfter() {
        String value = header("retry-after");
        if (value == null || value.isEmpty() || value.length() > 18) {
            return -1;
        }
        for (int at = 0; at < value.length(); at++) {
            if (value.charAt(at) < '0' || value.charAt(at) > '9') {
                return -1;
            }
        }
        return Math.min(Long.parseLong(value), MAX_RETRY_AFTER);
    }

    /** The body, up to one byte more than allowed, so that a longer one is noticed. */
    public byte[] readBody(int max) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] buffer = new byte[CHUNK];
        while (bytes.size() <= max) {
            int count = body.read(buffer, 0, Math.min(buffer.length, max + 1 - bytes.size()));
            if (count < 0) {
                break;
            }
            bytes.write(buffer, 0, count);
        }
        return bytes.toByteArray();
    }

    @Override
    public void close() {
        try {
            body.close();
        } catch (IOException gone) {
            // Nobody needs the rest of the body.
            return;
        }
    }
}
