/** Everything that is remembered between starts, as `state.json` holds it. */
package dev.launchway.core.storage;

import dev.launchway.core.boot.Binary;
import dev.launchway.core.boot.BootState;
import dev.launchway.core.boot.Content;
import dev.launchway.core.digest.Sha256;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

public final class State {
    /** The most report tokens that are kept; the oldest leave first. */
    private static final int MAX_TOKENS = 16;

    /** The boot machine's part. */
    public BootState boot;
    /** The installation's id, made at random at the first start. */
    public final String deviceId;
    /** The installed packages, in the order of their installation. */
    public final List<SlotRecord> slots = new ArrayList<SlotRecord>();
    /** Oldest first. */
    public final List<ReportToken> tokens = new ArrayList<ReportToken>();
    /** Null until metadata was fetched. */
    public TrustRecord trust;
    /** The last update that was rolled back or could not be installed on this binary; null if none is known. */
    public FailedUpdate failed;

    public State(BootState boot, String deviceId) {
        this.boot = boot;
        this.deviceId = deviceId;
    }

    /** The state of a phone on which the app has never run. */
    public static State ofNewPhone(Binary binary, String deviceId) {
        return new State(new BootState(binary), deviceId);
    }

    /** The record of an installed package; null if there is none. */
    public SlotRecord slot(Sha256 id) {
        for (SlotRecord slot : slots) {
            if (slot.id.equals(id)) {
                return slot;
            }
        }
        return null;
    }

    /** Records an installed package in place of an earlier record of it. */
    public void record(SlotRecord record) {
        slots.remove(slot(record.id));
        slots.add(record);
    }

    /** Keeps the newest token of an update. */
    public void keepToken(ReportToken token) {
        for (Iterator<ReportToken> known = tokens.iterator(); known.hasNext(); ) {
            if (known.next().updateId.equals(token.updateId)) {
                known.remove();
            }
        }
        if (tokens.size() == MAX_TOKENS) {
            tokens.remove(0);
        }
        tokens.add(token);
    }

    /** How content is named towards the server: an update's id, or `embedded:<build>`. */
    public String updateId(Content content) {
        SlotRecord slot = slot(content.slot());
        return slot == null ? "embedded:" + boot.binary.code : slot.updateId;
    }
}
