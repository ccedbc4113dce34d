/** Which repository and app metadata is of: the field `x-launchway` (docs/reference/trust.md#repository-and-app). */
package dev.launchway.core.trust.metadata;

import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.text.Hex;
import java.util.Locale;
import java.util.regex.Pattern;

public final class Identity {
    private static final String FIELD = "x-launchway";
    private static final int REPOSITORY_DIGITS = 32;
    private static final int MAX_BUNDLE_ID_LENGTH = 155;
    private static final Pattern BUNDLE_ID = Pattern.compile("[A-Za-z0-9_-]++(\\.[A-Za-z0-9_-]++)*+");

    /** 128 bits as 32 lower-case hexadecimal digits. */
    public final String repository;
    /** The app. Letter case makes no difference. */
    public final String bundleId;

    public Identity(String repository, String bundleId) {
        this.repository = repository;
        this.bundleId = bundleId;
    }

    public static boolean isRepositoryId(String text) {
        return text.length() == REPOSITORY_DIGITS && Hex.decode(text) != null;
    }

    /** The identity that a `signed` names; null where it names none. */
    static Identity read(Fields signed) throws FormException {
        if (!signed.has(FIELD)) {
            return null;
        }
        JsonValue value = signed.value(FIELD);
        String repository = text(value, "repository");
        String bundleId = text(value, "bundleId");
        boolean valid = isRepositoryId(repository)
                && bundleId.length() <= MAX_BUNDLE_ID_LENGTH
                && BUNDLE_ID.matcher(bundleId).matches();
        if (!valid) {
            throw FormException.ofField(FIELD);
        }
        return new Identity(repository, bundleId);
    }

    private static String text(JsonValue value, String name) {
        JsonValue member = value.get(name);
        return member == null || member.asText() == null ? "" : member.asText();
    }

    private String key() {
        return repository + " " + bundleId.toLowerCase(Locale.ROOT);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Identity && key().equals(((Identity) other).key());
    }

    @Override
    public int hashCode() {
        return key().hashCode();
    }
}
