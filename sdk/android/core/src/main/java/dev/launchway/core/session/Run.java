/**
 * One start of content in this process: the events of the start, whether it has proved itself, and the watchdog until then. It is
 * called on the thread of {@code tasks}.
 */
package dev.launchway.core.session;

import dev.launchway.core.boot.BootEvent;
import dev.launchway.core.boot.Content;
import dev.launchway.core.device.Device;
import dev.launchway.core.device.Mark;
import dev.launchway.core.device.StartOutcome;
import dev.launchway.core.device.Status;
import dev.launchway.core.storage.SlotRecord;
import java.io.IOException;

final class Run {
    /** Content that crashes after this is not in a crash loop. */
    private static final long SETTLE_MS = 10_000;

    final StartOutcome outcome;

    private final Device device;
    private final SessionPorts ports;
    private final Events events;
    private Options options;
    private Watchdog watchdog;
    private Timer.Alarm settling;
    private boolean foreground;
    private boolean drawn;
    private boolean syncCalled;
    private boolean ready;
    private boolean ended;
    private volatile boolean disowned;

    Run(Device device, StartOutcome outcome, SessionPorts ports, Events events) {
        this.device = device;
        this.outcome = outcome;
        this.ports = ports;
        this.events = events;
    }

    /** {@code isDrawn}: whether the app has drawn a frame. */
    void begin(Options chosen, boolean isInForeground, boolean isDrawn) {
        options = chosen;
        drawn = isDrawn;
        Status status = status();
        announce(status);
        watchdog = new Watchdog(ports.tasks, ports.timer, options.readyTimeoutMs, new Runnable() {
            @Override
            public void run() {
                tryToMark(Mark.HANG);
            }
        });
        boolean needsProof = status == null || status.state.boot.trial;
        if (!isNoted() || !needsProof) {
            watchdog.stop();
        }
        settling = ports.timer.after(SETTLE_MS, new Runnable() {
            @Override
            public void run() {
                settle();
            }
        });
        if (isInForeground) {
            enterForeground();
        }
    }

    private void settle() {
        ports.tasks.run(new Runnable() {
            @Override
            public void run() {
                if (!ended) {
                    tryToMark(Mark.SETTLED);
                }
            }
        });
    }

    /** Whether what happens is noted: only if this run is the attempt that is recorded, and its content is what runs. */
    boolean isNoted() {
        return outcome.isRecorded && !disowned;
    }

    /** Other content runs. Every thread may say so. */
    void disown() {
        disowned = true;
    }

    /** Other content takes over. */
    void end() {
        ended = true;
        watchdog.stop();
        settling.cancel();
    }

    void configure(Options chosen) {
        options = chosen;
        watchdog.setLimit(options.readyTimeoutMs);
        confirmIfReady();
    }

    void enterForeground() {
        foreground = true;
        watchdog.resume();
        confirmIfReady();
    }

    void leaveForeground() {
        foreground = false;
        watchdog.pause();
    }

    void draw() {
        drawn = true;
        confirmIfReady();
    }

    /** The app has called `sync()`. */
    void noteSync() {
        syncCalled = true;
        confirmIfReady();
    }

    private void confirmIfReady() {
        boolean works = syncCalled && drawn && foreground;
        if (ready || options.readyMode != Options.ReadyMode.AUTO || !works) {
            return;
        }
        try {
            confirm();
        } catch (IOException full) {
            // The next sign of life tries again. Until then the trial continues.
            return;
        }
    }

    /** The content has proved itself. Returns whether it was a trial. */
    boolean confirm() throws IOException {
        boolean wasTrial = isNoted() && device.confirm();
        watchdog.stop();
        if (!ready) {
            ready = true;
            events.emit(Event.of(Event.Type.APP_READY, update(status(), outcome.content)));
        }
        return wasTrial;
    }

    /** Notes what happens now. An app does not fail because that cannot be written. */
    void tryToMark(Mark mark) {
        try {
            if (isNoted()) {
                device.mark(mark);
            }
        } catch (IOException full) {
            return;
        }
    }

    private void announce(Status status) {
        for (BootEvent event : outcome.events) {
            UpdateInfo update = update(status, event.content);
            String reason = event.reason == null ? null : event.reason.code();
            if (event.kind == BootEvent.Kind.ROLLED_BACK) {
                events.emit(Event.because(Event.Type.ROLLED_BACK, update, reason));
            } else if (event.kind == BootEvent.Kind.FAILED) {
                events.emit(Event.because(Event.Type.UPDATE_FAILED, update, reason));
            }
        }
        if (outcome.previous != null && !outcome.previous.equals(outcome.content)) {
            events.emit(Event.of(Event.Type.UPDATE_APPLIED, update(status, outcome.content)));
        }
    }

    /** The update behind content; null for the embedded app. */
    private static UpdateInfo update(Status status, Content content) {
        if (content.isEmbedded()) {
            return null;
        }
        SlotRecord slot = status == null ? null : status.state.slot(content.slot());
        String sha256 = content.slot().toString();
        return slot == null ? new UpdateInfo(sha256, "", "", sha256, -1) : UpdateInfo.of(slot);
    }

    private Status status() {
        try {
            return device.status();
        } catch (IOException unreadable) {
            return null;
        }
    }
}
