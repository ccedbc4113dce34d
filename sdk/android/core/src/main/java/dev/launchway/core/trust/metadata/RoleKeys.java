/** Which keys may sign for a role, and how many of them must. */
package dev.launchway.core.trust.metadata;

import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

final class RoleKeys {
    final Set<String> keyIds;
    final long threshold;

    RoleKeys(Fields fields) throws FormException {
        List<String> ids = fields.texts("keyids");
        keyIds = Collections.unmodifiableSet(new TreeSet<String>(ids));
        if (keyIds.size() != ids.size()) {
            throw FormException.ofField("keyids");
        }
        threshold = fields.positive("threshold");
    }
}
