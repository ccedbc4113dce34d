/** The request for an update (`docs/reference/sdk.md#the-check`). */
package dev.launchway.core.device;

import dev.launchway.core.json.JsonException;
import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.net.Caches;
import dev.launchway.core.net.Network;
import dev.launchway.core.net.Request;
import dev.launchway.core.net.Response;
import dev.launchway.core.text.PercentEncoding;
import java.io.IOException;

final class ServerCheck {
    /** The most bytes of an answer. */
    private static final int MAX_ANSWER = 256 << 10;

    private ServerCheck() {}

    static CheckAnswer ask(Network network, Settings settings, Running running, String deviceId, Caches caches)
            throws CheckException {
        byte[] bytes;
        try (Response response = network.send(Request.forJson(url(settings, running, deviceId), caches))) {
            if (response.status != 200) {
                throw CheckException.status(response.status, response.retryAfter());
            }
            bytes = response.readBody(MAX_ANSWER);
        } catch (IOException unreachable) {
            throw CheckException.network(unreachable);
        }
        JsonValue answer;
        try {
            answer = JsonReader.read(bytes, MAX_ANSWER);
        } catch (JsonException malformed) {
            throw CheckException.malformed("it is not strict JSON");
        }
        return new AnswerParser(answer, running.updateId).parse();
    }

    private static String url(Settings settings, Running running, String deviceId) {
        StringBuilder url = new StringBuilder(settings.serverUrl)
                .append("/update/check/")
                .append(PercentEncoding.encode(settings.bundleId));
        char separator = '?';
        String[][] own = {
            {"currentVersion", running.version},
            {"currentBuild", running.build},
            {"currentUpdateId", running.updateId},
            {"deviceId", deviceId},
            {"platform", Settings.PLATFORM},
            {"fingerprint", settings.fingerprint},
            {"configuration", settings.configuration},
        };
        for (String[] parameter : own) {
            if (parameter[1] != null && !parameter[1].isEmpty()) {
                url.append(separator).append(parameter[0]).append('=').append(PercentEncoding.encode(parameter[1]));
                separator = '&';
            }
        }
        return url.toString();
    }
}
