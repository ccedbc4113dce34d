/**
 * One run that renews a phone's metadata, file after file. Store {@link TrustClient#storedTrust} whenever {@link #take} returns
 * true, before the next request, and at the end of the run: a server cannot take back what was stored once.
 */
package dev.launchway.core.trust;

import dev.launchway.core.json.FormException;
import dev.launchway.core.text.Utf8;
import dev.launchway.core.trust.metadata.Metadata;
import dev.launchway.core.trust.metadata.Targets;
import java.util.Iterator;

public final class Refresh {
    private final TrustClient client;
    private final Workflow workflow;
    private final long now;
    private int nextRole;

    Refresh(TrustClient client, long now) {
        this.client = client;
        this.workflow = new Workflow(client.trusted(), now);
        this.now = now;
    }

    /** What to fetch next; null when everything is current. */
    public FileRequest nextRequest() throws RoleException {
        FileRequest request = workflow.nextRequest();
        if (request != null) {
            if (request.kind == FileRequest.Kind.TARGETS) {
                client.checkFloorOfTargets(request.version);
            }
            return request;
        }
        client.checkFloorOfTargets(client.trusted().targets().version);
        client.learnTargets();
        while (nextRole < client.roles().size()) {
            String name = client.roles().get(nextRole);
            RoleState state = client.delegatedState(name, now);
            if (state == RoleState.CURRENT) {
                client.learnRole(name);
            } else if (state == RoleState.NOT_DELEGATED) {
                client.forgetRevoked(name);
            } else {
                return FileRequest.role(name, state.wanted);
            }
            nextRole++;
        }
        return null;
    }

    /** Takes the bytes of the file that was asked for. Returns whether it replaced the trusted one. */
    public boolean take(byte[] bytes) throws RoleException {
        FileRequest request = nextRequest();
        if (request == null) {
            return false;
        }
        switch (request.kind) {
            case ROLE:
                checkContent(request.role(), bytes);
                client.trusted().updateRole(request.role(), bytes, now);
                client.learnRole(request.role());
                nextRole++;
                return true;
            case ROOT:
                try {
                    return workflow.take(bytes);
                } finally {
                    // The last root of a run is trusted even if it has expired.
                    client.learnRoot();
                }
            case TARGETS:
                checkContent("targets", bytes);
                workflow.take(bytes);
                client.learnTargets();
                return true;
            default:
                return workflow.take(bytes);
        }
    }

    /** The server does not have the file that was asked for. */
    public void reportMissing() throws RoleException {
        FileRequest request = nextRequest();
        if (request != null && request.kind == FileRequest.Kind.ROLE) {
            throw RoleException.missing(request.role());
        }
        if (request != null) {
            workflow.reportMissing(request);
        }
    }

    /** How far a client came with the answer of one trip. */
    public enum Progress {
        /** Everything is current. */
        DONE,
        /** There may be more roots: ask again from the version that is trusted now. */
        ASK_AGAIN,
        /** The answer lacks the file that {@link #nextRequest} names: fetch it, and continue with {@link #take}. */
        LACKS_FILE
    }

    /** Takes the files of an answer one after the other. Store what is trusted afterwards, even if a file was refused. */
    public Progress takeAnswer(TrustAnswer answer) throws RoleException {
        Iterator<String> roots = answer.roots.iterator();
        while (true) {
            FileRequest request = nextRequest();
            if (request == null) {
                return Progress.DONE;
            }
            boolean isRoot = request.kind == FileRequest.Kind.ROOT;
            String text;
            if (isRoot) {
                text = roots.hasNext() ? roots.next() : null;
            } else {
                text = answer.file(request);
            }
            if (text != null) {
                take(Utf8.encode(text));
            } else if (!isRoot) {
                return Progress.LACKS_FILE;
            } else if (answer.isFullOfRoots()) {
                return Progress.ASK_AGAIN;
            } else {
                reportMissing();
            }
        }
    }

    public TrustClient client() {
        return client;
    }

    /**
     * A file of a targets role does not say of which one it is. Where one key signs for several, a server could pass one file
     * off as another, and so push up a floor. Hence each role lists targets under its own name only, and `targets` none;
     * only `targets` delegates.
     */
    private static void checkContent(String role, byte[] bytes) throws RoleException {
        Metadata<Targets> file;
        try {
            file = Metadata.parse(bytes, Targets.TYPE);
        } catch (FormException malformed) {
            // Its reader refuses it.
            return;
        }
        boolean own = true;
        if (role.equals("targets")) {
            own = file.body.targets.isEmpty();
        } else {
            for (String path : file.body.targets.keySet()) {
                own &= path.startsWith(role + "/");
            }
            own &= !file.body.delegates;
        }
        if (!own) {
            throw new RoleException(role, Reason.OTHER_CONTENT, "lists targets or roles that are not its own");
        }
    }
}
