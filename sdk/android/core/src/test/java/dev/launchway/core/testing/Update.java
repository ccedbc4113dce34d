/** An update on the server, and what is in its package. */
package dev.launchway.core.testing;

import dev.launchway.core.boot.Content;
import dev.launchway.core.digest.Sha256;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.text.Utf8;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

public final class Update {
    public final String id;
    public final String version;
    public final int build;
    public final byte[] bytes;
    public final Sha256 sha256;

    public Update(String id, String version, int build, byte[] bytes) {
        this.id = id;
        this.version = version;
        this.build = build;
        this.bytes = bytes;
        this.sha256 = Sha256.of(bytes);
    }

    /** The good update with this number, for the app 1.0.0 with build 1. */
    public static Update number(int number) {
        return new Update("update_" + number, "1.0.0", 100 + number, pack(files(number)));
    }

    public Content content() {
        return Content.of(sha256);
    }

    /** The files of a version, one of them large enough for several reads. */
    public static Map<String, byte[]> files(int version) {
        Map<String, byte[]> files = new TreeMap<String, byte[]>();
        StringBuilder script = new StringBuilder();
        for (int line = 0; line < 100; line++) {
            script.append("console.log('version ").append(version).append(" line ").append(line).append("');\n");
        }
        files.put("index.html", Utf8.encode("<script src=js/app.js></script> " + version));
        files.put("js/app.js", Utf8.encode(script.toString()));
        files.put("img/a/logo.svg", Utf8.encode("<svg/>"));
        return files;
    }

    public static byte[] pack(Map<String, byte[]> files) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            for (Map.Entry<String, byte[]> file : files.entrySet()) {
                ZipEntry entry = new ZipEntry(file.getKey());
                entry.setTime(1_000_000_000_000L);
                zip.putNextEntry(entry);
                zip.write(file.getValue());
                zip.closeEntry();
            }
        } catch (IOException impossible) {
            throw new AssertionError(impossible);
        }
        return bytes.toByteArray();
    }

    /** The members of the answer to a check that offers the update. */
    public Map<String, JsonValue> answer() {
        Map<String, JsonValue> answer = JsonValue.newMembers();
        answer.put("updateAvailable", JsonValue.of(true));
        answer.put("requiresStoreUpdate", JsonValue.of(false));
        answer.put("compatibilityReason", JsonValue.NULL);
        answer.put("platform", JsonValue.of("android"));
        answer.put("id", JsonValue.of(id));
        answer.put("version", JsonValue.of(version));
        answer.put("buildNumber", JsonValue.of(Integer.toString(build)));
        answer.put("url", JsonValue.of("https://storage/package?signature=1"));
        answer.put("sha256", JsonValue.of(sha256.toString()));
        answer.put("size", JsonValue.of(bytes.length));
        answer.put("mandatory", JsonValue.of(false));
        answer.put("releaseNotes", JsonValue.of(""));
        answer.put("reportToken", JsonValue.of("token"));
        return answer;
    }
}
