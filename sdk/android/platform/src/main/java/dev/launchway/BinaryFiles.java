/** What the binary carries for the client: settings, trust file, fingerprint and the framework's entry file. */
package dev.launchway;

import android.content.Context;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import android.content.res.Resources;
import dev.launchway.core.json.FormException;
import dev.launchway.core.session.ErrorCode;
import dev.launchway.core.session.Options;
import dev.launchway.core.session.SessionException;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;

final class BinaryFiles {
    static final String SETTINGS = "launchway.json";
    static final String TRUST = "launchway.trust.json";
    static final String FINGERPRINT = "launchway_fingerprint";
    /** Named by the manifest of a framework's package. */
    static final String ENTRY_FILE = "dev.launchway.entryFile";

    private static final String DEFAULT_ENTRY_FILE = "index.html";
    private static final int MAX_BYTES = 1 << 20;
    private static final int CHUNK = 8 << 10;

    private final Context context;

    BinaryFiles(Context context) {
        this.context = context;
    }

    /** The settings; without a file those of an app that calls `configure`. */
    Options options() throws SessionException {
        try {
            byte[] bytes = asset(SETTINGS);
            return bytes == null ? Options.defaults() : Options.read(bytes);
        } catch (FormException wrong) {
            throw new SessionException(ErrorCode.NOT_CONFIGURED, SETTINGS + ": " + wrong.getMessage());
        } catch (IOException unreadable) {
            throw new SessionException(ErrorCode.NOT_CONFIGURED, "cannot read " + SETTINGS + ": " + unreadable.getMessage());
        }
    }

    /** The trust file; null if the binary does not carry one. One that cannot be read is empty, so that nothing is taken. */
    byte[] trustFile() {
        try {
            return asset(TRUST);
        } catch (IOException unreadable) {
            return new byte[0];
        }
    }

    /** Null if the binary does not carry one. */
    String fingerprint() {
        Resources resources = context.getResources();
        int id = resources.getIdentifier(FINGERPRINT, "string", context.getPackageName());
        String text = id == 0 ? "" : resources.getString(id);
        return text.isEmpty() ? null : text;
    }

    /** The file that every package of the app's framework contains. */
    String entryFile() {
        try {
            ApplicationInfo info = context.getPackageManager()
                    .getApplicationInfo(context.getPackageName(), PackageManager.GET_META_DATA);
            String named = info.metaData == null ? null : info.metaData.getString(ENTRY_FILE);
            return named == null ? DEFAULT_ENTRY_FILE : named;
        } catch (PackageManager.NameNotFoundException impossible) {
            return DEFAULT_ENTRY_FILE;
        }
    }

    /** The bytes of an asset; null if there is none. */
    private byte[] asset(String name) throws IOException {
        try (InputStream input = context.getAssets().open(name)) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            byte[] buffer = new byte[CHUNK];
            for (int count = input.read(buffer); count >= 0; count = input.read(buffer)) {
                bytes.write(buffer, 0, count);
                if (bytes.size() > MAX_BYTES) {
                    throw new IOException("it is too long");
                }
            }
            return bytes.toByteArray();
        } catch (FileNotFoundException missing) {
            return null;
        }
    }
}
