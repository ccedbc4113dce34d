/** The root: the keys of all top-level roles. */
package dev.launchway.core.trust.metadata;

import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import java.util.EnumMap;
import java.util.Map;

public final class Root {
    public static final MetadataType<Root> TYPE = new MetadataType<Root>("root", 32 << 10) {
        @Override
        Root read(Fields signed) throws FormException {
            return new Root(signed);
        }
    };

    private final Keys keys;
    private final Map<TopLevel, RoleKeys> roles = new EnumMap<TopLevel, RoleKeys>(TopLevel.class);

    private Root(Fields signed) throws FormException {
        keys = new Keys(signed);
        Fields fields = signed.object("roles");
        for (TopLevel role : TopLevel.values()) {
            if (!fields.has(role.title())) {
                throw FormException.ofField("roles");
            }
            roles.put(role, new RoleKeys(Fields.of(fields.value(role.title()), "roles")));
        }
        if (signed.has("consistent_snapshot")) {
            signed.bool("consistent_snapshot");
        }
    }

    /** Who signs for a top-level role. */
    public Authority authority(TopLevel role) {
        return new Authority(keys, roles.get(role));
    }
}
