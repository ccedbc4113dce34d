/** One run of the suite's client: the workflow over the top-level roles, then over the roles in which a target is searched. */
package dev.launchway.core.trust;

import dev.launchway.core.json.JsonValue;
import dev.launchway.core.json.JsonWriter;
import dev.launchway.core.text.PercentEncoding;
import dev.launchway.core.text.Utf8;
import dev.launchway.core.trust.metadata.Delegation;
import dev.launchway.core.trust.metadata.MetaFile;
import dev.launchway.core.trust.metadata.Metadata;
import dev.launchway.core.trust.metadata.Targets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.TreeMap;

final class ConformanceSession {
    private final Path folder;
    private final ConformanceServer server;
    private final TrustedMetadata trusted;
    private final Map<String, Metadata<Targets>> roles = new TreeMap<String, Metadata<Targets>>();
    private final long now = System.currentTimeMillis();

    /** Opens what was trusted before: one file for each role, its bytes as they were received. */
    ConformanceSession(Path folder, String metadataUrl) throws Exception {
        this.folder = folder;
        this.server = new ConformanceServer(metadataUrl);
        String root = Utf8.decode(read("root"));
        trusted = new TrustedMetadata(root, null);
        Map<String, JsonValue> stored = JsonValue.newMembers();
        stored.put("repository", JsonValue.of("00000000000000000000000000000000"));
        stored.put("root", JsonValue.of(root));
        for (String role : new String[] {"timestamp", "snapshot", "targets"}) {
            byte[] bytes = read(role);
            String text = bytes == null ? null : Utf8.decode(bytes);
            if (text != null) {
                stored.put(role, JsonValue.of(text));
            }
        }
        for (String map : new String[] {"lineage", "floors", "roles"}) {
            stored.put(map, JsonValue.object(JsonValue.newMembers()));
        }
        trusted.restore(StoredTrust.parse(JsonWriter.ascii(JsonValue.object(stored))));
    }

    private Path file(String role) {
        return folder.resolve(PercentEncoding.encode(role) + ".json");
    }

    /** The stored file of a role; null if there is none. */
    private byte[] read(String role) throws IOException {
        return Files.exists(file(role)) ? Files.readAllBytes(file(role)) : null;
    }

    /** Replaces the stored file of a role as a whole. */
    private void write(String role, byte[] bytes) throws IOException {
        Path temporary = folder.resolve("new");
        Files.write(temporary, bytes);
        Files.move(temporary, file(role), StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Runs the workflow, and keeps each file as soon as it is trusted. */
    void refresh() throws Exception {
        Workflow workflow = new Workflow(trusted, now);
        FileRequest request = workflow.nextRequest();
        while (request != null) {
            byte[] bytes = server.get(request.fileName(), request.limit());
            if (bytes == null) {
                workflow.reportMissing(request);
            } else if (workflow.take(bytes)) {
                write(request.role(), bytes);
            }
            request = workflow.nextRequest();
        }
    }

    /** The trusted file of targets or of a delegated role; null if there is none. */
    Metadata<Targets> role(String name) {
        return name.equals("targets") ? trusted.targets() : roles.get(name);
    }

    /** Makes sure that the file of a role is current and signed by the keys that this delegation names. */
    void load(Delegation delegation) throws Exception {
        String name = delegation.name;
        MetaFile listed = trusted.snapshot().body.role(name);
        if (listed == null) {
            throw new IOException(name + " is not listed in the snapshot");
        }
        Metadata<Targets> known = roles.get(name);
        if (Checks.isCurrent(known, listed, now) && delegation.authority.verifies(known)) {
            return;
        }
        // A stored file is taken as if it had just come, so it is held against this delegation, too.
        byte[] stored = read(name);
        if (stored != null && isTaken(delegation, listed, stored)) {
            return;
        }
        String file = listed.version + "." + PercentEncoding.encode(name) + ".json";
        byte[] bytes = server.get(file, Targets.TYPE.limit);
        if (bytes == null) {
            throw new IOException(file + " is missing");
        }
        take(delegation, listed, bytes);
        write(name, bytes);
    }

    private boolean isTaken(Delegation delegation, MetaFile listed, byte[] stored) {
        try {
            take(delegation, listed, stored);
            return true;
        } catch (RoleException old) {
            return false;
        }
    }

    private void take(Delegation delegation, MetaFile listed, byte[] bytes) throws RoleException {
        Metadata<Targets> file = Checks.readListed(
                delegation.name, bytes, Targets.TYPE, null, listed, delegation.authority);
        Checks.expectValid(delegation.name, file, now);
        roles.put(delegation.name, file);
    }
}
