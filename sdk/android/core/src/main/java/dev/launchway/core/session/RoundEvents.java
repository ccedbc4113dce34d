/** Turns what happens in a round into events. It is called on the round's thread. */
package dev.launchway.core.session;

import dev.launchway.core.device.Offer;
import dev.launchway.core.device.RoundListener;

final class RoundEvents implements RoundListener {
    private final Events events;
    private final ProgressFilter filter;
    /** What is on offer; null: nothing is, or it is installed. */
    private UpdateInfo update;

    RoundEvents(Timer timer, Events events) {
        this.events = events;
        this.filter = new ProgressFilter(timer);
    }

    @Override
    public void found(Offer offer) {
        update = UpdateInfo.of(offer);
        events.emit(Event.of(Event.Type.UPDATE_AVAILABLE, update));
    }

    @Override
    public void arrived(long bytes) {
        if (filter.passes()) {
            events.emit(Event.progress(update, bytes));
        }
    }

    @Override
    public void installed(Offer offer) {
        events.emit(Event.of(Event.Type.DOWNLOAD_COMPLETE, update));
        update = null;
    }

    /** The round ended early. */
    void failed(SessionException failure) {
        if (update != null) {
            events.emit(Event.downloadFailed(update, failure));
        }
    }
}
