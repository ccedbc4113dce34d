/** Which packages are installed, and which of them the app chooses for the next start. */
package dev.launchway.core.device;

import dev.launchway.core.boot.BootState;
import dev.launchway.core.boot.Soundness;
import dev.launchway.core.storage.SlotRecord;
import dev.launchway.core.storage.State;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

final class Choices {
    private final Setup setup;
    private final State state;

    Choices(Setup setup, State state) {
        this.setup = setup;
        this.state = state;
    }

    /** The packages that can be handed over, in the order of their installation. */
    List<SlotRecord> list() throws IOException {
        List<SlotRecord> whole = new ArrayList<SlotRecord>();
        for (SlotRecord slot : state.slots) {
            if (isWhole(slot)) {
                whole.add(slot);
            }
        }
        return whole;
    }

    /** Makes the package of an update the next content. Returns its record; null if there is none that may run. */
    SlotRecord choose(String updateId) throws IOException {
        UpdateTrust trust = setup.trust.open(state.trust);
        BootState changed = state.boot.copy();
        for (SlotRecord slot : state.slots) {
            if (slot.updateId.equals(updateId)
                    && !trust.isRevoked(slot.id)
                    && isWhole(slot)
                    && changed.stage(slot.id)) {
                setup.memory.saveBoot(state, changed);
                return slot;
            }
        }
        return null;
    }

    /** Hashes are computed by the start that tries the package. */
    private boolean isWhole(SlotRecord slot) throws IOException {
        return setup.slots.soundness(slot.id, false) == Soundness.SOUND;
    }
}
