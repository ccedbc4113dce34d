/** One role that is delegated to: who signs for it, and for which paths. */
package dev.launchway.core.trust.metadata;

import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import java.util.Collections;
import java.util.List;

public final class Delegation {
    public final String name;
    /** Patterns of the paths that it signs for. Empty if the delegation is by hash prefixes. */
    public final List<String> paths;
    public final Authority authority;

    Delegation(Keys keys, Fields fields) throws FormException {
        name = fields.text("name");
        authority = new Authority(keys, new RoleKeys(fields));
        fields.bool("terminating");
        paths = fields.has("paths") ? fields.texts("paths") : Collections.<String>emptyList();
    }
}
