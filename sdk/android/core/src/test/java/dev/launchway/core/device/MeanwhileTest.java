/** What an app does while a round runs is not lost when the round ends. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Content;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.net.Network;
import dev.launchway.core.net.Request;
import dev.launchway.core.net.Response;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.FakeServer;
import dev.launchway.core.testing.MemoryDisk;
import dev.launchway.core.testing.Phone;
import dev.launchway.core.testing.Update;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

public final class MeanwhileTest {
    /** Something that happens when a request arrives. */
    private interface Action {
        void run() throws Exception;
    }

    private final MemoryDisk disk = new MemoryDisk();
    private final Phone phone = new Phone(disk);
    private final FakeServer server = new FakeServer(Update.number(1));
    /** The part of an address that triggers the action, once. */
    private String trigger;
    private Action action;

    private final Network network = new Network() {
        @Override
        public Response send(Request request) throws IOException {
            if (action != null && request.url.contains(trigger)) {
                Action due = action;
                action = null;
                try {
                    due.run();
                } catch (Exception failure) {
                    throw new AssertionError(failure);
                }
            }
            return server.send(request);
        }

        @Override
        public boolean isUnmetered() {
            return true;
        }
    };

    /** Update 1 is on trial, and the server offers update 2. */
    private Device deviceOnTrial() throws Exception {
        Device device = phone.process(network);
        device.start(Phone.launch(Ending.EXPLAINED));
        device.sync(Phone.NOBODY);
        Check.equal(Update.number(1).content(), device.start(Phone.launch(Ending.EXPLAINED)).content);
        server.offer = Update.number(2);
        return device;
    }

    private void when(String part, Action due) {
        trigger = part;
        action = due;
    }

    public void aConfirmationDuringADownloadStays() throws Exception {
        final Device device = deviceOnTrial();
        when("/package", new Action() {
            @Override
            public void run() throws IOException {
                Check.that(device.confirm(), "it was on trial");
            }
        });
        Check.equal(SyncOutcome.Kind.STAGED, device.sync(Phone.NOBODY).kind);
        Check.that(!device.status().state.boot.trial, "confirmed");
        device.start(Phone.launch(Ending.EXPLAINED));
        Check.equal(Update.number(1).content(), device.status().state.boot.lastGood);
    }

    public void aResetDuringADownloadStays() throws Exception {
        final Device device = deviceOnTrial();
        when("/package", new Action() {
            @Override
            public void run() throws IOException {
                device.reset();
            }
        });
        device.sync(Phone.NOBODY);
        Check.equal(Content.EMBEDDED, device.status().state.boot.current);
        Check.equal(Update.number(2).sha256, device.status().state.boot.next);
    }

    public void aSwitchDuringADownloadStays() throws Exception {
        final Device device = deviceOnTrial();
        device.download(Phone.NOBODY);
        server.offer = Update.number(3);
        when("/package", new Action() {
            @Override
            public void run() throws Exception {
                device.next("update_2");
                Content content = device.start(Phone.launch(Ending.EXPLAINED)).content;
                Check.equal(Update.number(2).content(), content);
            }
        });
        Check.equal(SyncOutcome.Kind.STAGED, device.sync(Phone.NOBODY).kind);
        Check.equal(Update.number(2).content(), device.status().state.boot.current);
        Check.equal(Update.number(3).content(), device.start(Phone.launch(Ending.EXPLAINED)).content);
    }

    public void aCrashWhileReportsAreSentIsReportedLater() throws Exception {
        final Device device = deviceOnTrial();
        when("/update/report/", new Action() {
            @Override
            public void run() throws IOException {
                device.markCrash("at app.js:1");
            }
        });
        device.sync(Phone.NOBODY);
        Check.equal(1, device.status().reports);
        Check.that(!server.reports.contains("crash update_1"), "it came too late");
        device.sync(Phone.NOBODY);
        Check.that(server.reports.contains("crash update_1"), server.reports.toString());
    }

    public void settingsOfNowAreThoseOfTheNextRound() throws Exception {
        final Device device = deviceOnTrial();
        final Settings other = new Settings("https://host/api", "com.example.other", "1.0.0");
        when("/update/check/", new Action() {
            @Override
            public void run() {
                device.configure(other, UpdateTrust.WITHOUT_ROOT);
            }
        });
        device.sync(Phone.NOBODY);
        String last = server.requests.get(server.requests.size() - 1).url;
        Check.that(last.endsWith("/update/report/com.example.app"), last);
        device.check();
        last = server.requests.get(server.requests.size() - 1).url;
        Check.that(last.contains("/update/check/com.example.other?"), last);
    }

    public void onlyARecordedStartIsTheAttempt() throws Exception {
        Device device = deviceOnTrial();
        StartOutcome recorded = device.start(Phone.launch(Ending.EXPLAINED));
        Check.that(recorded.isRecorded, "recorded");
        Check.equal(Update.number(1).content(), recorded.previous);
        int unrecorded = 0;
        for (int call = 1; ; call++) {
            MemoryDisk full = disk.withFault(call, MemoryDisk.Fault.FAILS_FOR_EVER);
            phone.storage = full;
            try {
                StartOutcome outcome = phone.process(network).start(Phone.launch(Ending.EXPLAINED));
                unrecorded += outcome.problem == null && !outcome.isRecorded ? 1 : 0;
                recorded = full.calls() < call ? outcome : recorded;
            } catch (IOException noLock) {
                continue;
            }
            if (full.calls() < call) {
                break;
            }
        }
        Check.that(unrecorded > 0, "starts whose attempt is not on the disk");
        Check.that(recorded.isRecorded, "a disk without faults records the start");
    }

    public void marksDoNotWaitForARound() throws Exception {
        final Device device = deviceOnTrial();
        final AtomicReference<Exception> failure = new AtomicReference<Exception>();
        when("/package", new Action() {
            @Override
            public void run() throws InterruptedException {
                final CountDownLatch done = new CountDownLatch(1);
                new Thread() {
                    @Override
                    public void run() {
                        try {
                            device.mark(Mark.BACKGROUND);
                            device.confirm();
                            device.list();
                        } catch (Exception unexpected) {
                            failure.set(unexpected);
                        }
                        done.countDown();
                    }
                }.start();
                done.await();
            }
        });
        device.sync(Phone.NOBODY);
        Check.equal(null, failure.get());
        Check.that(!device.status().attempt.foreground, "noted");
    }
}
