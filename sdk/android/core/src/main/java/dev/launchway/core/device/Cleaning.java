/** What leaves the disk: packages that nobody needs, and partial files that lead nowhere. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Content;
import dev.launchway.core.digest.Sha256;
import dev.launchway.core.net.PartialFile;
import dev.launchway.core.slots.Slots;
import dev.launchway.core.storage.SlotRecord;
import dev.launchway.core.storage.State;
import dev.launchway.core.storage.StateFiles;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.storage.WholeFiles;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

final class Cleaning {
    private final Setup setup;
    private final Storage storage;

    Cleaning(Setup setup) {
        this.setup = setup;
        this.storage = setup.ports.storage;
    }

    /** Removes partial files of other packages: there is room for one. */
    void dropOtherParts(Sha256 sha256) throws IOException {
        for (String name : storage.list(PartialFile.FOLDER)) {
            if (!name.startsWith(sha256.toString())) {
                WholeFiles.removeTree(storage, WholeFiles.join(PartialFile.FOLDER, name));
            }
        }
    }

    /** Removes packages that are no longer needed, and partial files of those that are installed. */
    void cleanUp(State state, Content running) throws IOException {
        Set<Sha256> keep;
        synchronized (setup.memory) {
            keep = kept(state, running);
            // What has no record any more cannot become the next content while it is removed.
            dropOtherRecords(state, keep);
        }
        for (String name : storage.list(Slots.FOLDER)) {
            Sha256 slot = Sha256.parse(name);
            boolean isKept = slot != null && (keep.contains(slot) || slot.equals(running.slot()));
            if (!isKept) {
                setup.slots.remove(WholeFiles.join(Slots.FOLDER, name));
            }
        }
        for (String name : storage.list(PartialFile.FOLDER)) {
            int dot = name.indexOf('.');
            Sha256 installed = dot < 0 ? null : Sha256.parse(name.substring(0, dot));
            if (installed != null && keep.contains(installed)) {
                WholeFiles.removeTree(storage, WholeFiles.join(PartialFile.FOLDER, name));
            }
        }
    }

    private void dropOtherRecords(State state, Set<Sha256> keep) throws IOException {
        List<SlotRecord> records = new ArrayList<SlotRecord>();
        for (SlotRecord slot : state.slots) {
            if (keep.contains(slot.id)) {
                records.add(slot);
            }
        }
        if (records.size() < state.slots.size()) {
            state.slots.clear();
            state.slots.addAll(records);
            StateFiles.saveState(storage, state);
        }
    }

    /** The packages that are needed, the newest one, and the newest others up to the number of slots. */
    private Set<Sha256> kept(State state, Content running) {
        Set<Sha256> keep = new HashSet<Sha256>();
        for (SlotRecord slot : state.slots) {
            if (state.boot.needs(slot.id) || slot.id.equals(running.slot())) {
                keep.add(slot.id);
            }
        }
        int newest = state.slots.size() - 1;
        for (int at = newest; at >= 0; at--) {
            Sha256 id = state.slots.get(at).id;
            // The newest package may wait until the app chooses it, however many are needed.
            boolean hasRoom = at == newest || keep.size() < setup.settings.keepSlots;
            if (hasRoom && !state.boot.quarantine.contains(id)) {
                keep.add(id);
            }
        }
        return keep;
    }
}
