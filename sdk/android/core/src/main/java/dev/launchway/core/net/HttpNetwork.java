/** Reaches servers by the platform's own HTTP client. */
package dev.launchway.core.net;

import dev.launchway.core.text.Utf8;
import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.util.Map;

public final class HttpNetwork implements Network {
    /** Tells whether the connection of the device costs by the byte, which only the platform knows. */
    public interface Metering {
        boolean isUnmetered();
    }

    private static final int CONNECT_TIMEOUT_MS = 15_000;
    private static final int SILENCE_TIMEOUT_MS = 30_000;

    private final Metering metering;
    private final int silenceTimeoutMs;

    public HttpNetwork(Metering metering) {
        this(metering, SILENCE_TIMEOUT_MS);
    }

    /** {@code silenceTimeoutMs} is how long to wait for the next bytes of a server. */
    public HttpNetwork(Metering metering, int silenceTimeoutMs) {
        this.metering = metering;
        this.silenceTimeoutMs = silenceTimeoutMs;
    }

    @Override
    public Response send(Request request) throws IOException {
        URLConnection opened = new URL(request.url).openConnection();
        if (!(opened instanceof HttpURLConnection)) {
            throw new IOException("the address is not one of HTTP");
        }
        HttpURLConnection connection = (HttpURLConnection) opened;
        boolean answered = false;
        try {
            Response response = exchange(connection, request);
            answered = true;
            return response;
        } catch (RuntimeException malformed) {
            // Platforms throw what they like about hostile headers and addresses.
            throw new IOException("the exchange with the server failed", malformed);
        } finally {
            if (!answered) {
                connection.disconnect();
            }
        }
    }

    private Response exchange(HttpURLConnection connection, Request request) throws IOException {
        connection.setConnectTimeout(CONNECT_TIMEOUT_MS);
        connection.setReadTimeout(silenceTimeoutMs);
        connection.setInstanceFollowRedirects(false);
        for (Map.Entry<String, String> field : request.headers.entrySet()) {
            connection.setRequestProperty(field.getKey(), field.getValue());
        }
        if (request.body != null) {
            byte[] body = Utf8.encode(request.body);
            connection.setDoOutput(true);
            // A body of known length is not kept, and not sent again without our knowledge.
            connection.setFixedLengthStreamingMode(body.length);
            try (OutputStream target = connection.getOutputStream()) {
                target.write(body);
            }
        }
        int status = connection.getResponseCode();
        if (status < 100) {
            throw new IOException("the server does not speak HTTP");
        }
        return new Response(status, connection.getHeaderFields(), body(connection, status));
    }

    private static InputStream body(final HttpURLConnection connection, int status) throws IOException {
        InputStream body = status < 400 ? connection.getInputStream() : connection.getErrorStream();
        if (body == null) {
            return new ByteArrayInputStream(new byte[0]);
        }
        return new FilterInputStream(body) {
            private boolean ended;

            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] buffer, int offset, int count) throws IOException {
                try {
                    int read = in.read(buffer, offset, count);
                    ended |= read < 0;
                    return read;
                } catch (RuntimeException malformed) {
                    throw new IOException("the body is malformed", malformed);
                }
            }

            @Override
            public void close() throws IOException {
                if (!ended) {
                    // Closing alone could read an endless body to its end to use the connection again.
                    connection.disconnect();
                }
                in.close();
            }
        };
    }

    @Override
    public boolean isUnmetered() {
        return metering.isUnmetered();
    }
}
