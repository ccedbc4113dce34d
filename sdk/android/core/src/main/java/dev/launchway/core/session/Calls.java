/** What an app calls, the same in every package of the SDK. Results arrive where the app's callbacks are. */
package dev.launchway.core.session;

import dev.launchway.core.boot.Content;
import dev.launchway.core.device.Status;
import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.storage.FailedUpdate;
import dev.launchway.core.storage.SlotRecord;
import dev.launchway.core.storage.State;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

public final class Calls {
    private final Session session;

    Calls(Session session) {
        this.session = session;
    }

    /** A call, on the thread of tasks. */
    private abstract class Call<T> implements Runnable {
        private final Callback<? super T> callback;

        Call(Callback<? super T> callback) {
            this.callback = callback;
        }

        abstract T answer() throws Exception;

        /** Called when the result is on its way. */
        void finish() {}

        @Override
        public final void run() {
            try {
                session.checkWorks();
                Delivery.result(session.ports().callbacks, callback, answer());
                finish();
            } catch (Exception failure) {
                Delivery.error(session.ports().callbacks, callback, SessionException.of(failure));
            }
        }
    }

    private void begin(Call<?> call) {
        session.ports().tasks.run(call);
    }

    /** Sets options for this process. {@code arguments} is a JSON object. */
    public void configure(final JsonValue arguments, Callback<Void> callback) {
        begin(new Call<Void>(callback) {
            @Override
            Void answer() throws SessionException {
                try {
                    session.configure(arguments);
                    return null;
                } catch (FormException wrong) {
                    throw new SessionException(ErrorCode.INVALID_ARGUMENT, wrong.getMessage());
                }
            }
        });
    }

    /** Asks the server for an update, and installs nothing. */
    public void check(Callback<RoundResult> callback) {
        join(Rounds.Kind.CHECK, callback);
    }

    /** Installs the update on offer, and leaves the choice of what the next start tries to {@link #next}. */
    public void download(Callback<RoundResult> callback) {
        join(Rounds.Kind.DOWNLOAD, callback);
    }

    /** Installs the update on offer for the next start. Most apps call this once at their start, and nothing else. */
    public void sync(Callback<RoundResult> callback) {
        join(Rounds.Kind.SYNC, callback);
    }

    private void join(final Rounds.Kind kind, final Callback<RoundResult> callback) {
        session.ports().tasks.run(new Runnable() {
            @Override
            public void run() {
                try {
                    session.checkWorks();
                    if (kind == Rounds.Kind.SYNC) {
                        session.run().noteSync();
                    }
                    session.join(kind, callback);
                } catch (SessionException failure) {
                    Delivery.error(session.ports().callbacks, callback, failure);
                }
            }
        });
    }

    /** Makes an installed update what the next start tries. */
    public void next(final String updateId, Callback<UpdateInfo> callback) {
        begin(new Call<UpdateInfo>(callback) {
            @Override
            UpdateInfo answer() throws Exception {
                SlotRecord chosen = session.device().next(updateId);
                if (chosen == null) {
                    String message = "no installed update that may run has the id `" + updateId + "`";
                    throw new SessionException(ErrorCode.NOT_FOUND, message);
                }
                session.rounds().announceNext(UpdateInfo.of(chosen));
                return UpdateInfo.of(chosen);
            }
        });
    }

    /** Starts the next content now, if the framework can. */
    public void reload(Callback<Void> callback) {
        begin(new Call<Void>(callback) {
            private Runnable show;

            @Override
            Void answer() throws Exception {
                session.state();
                show = session.switchContent();
                return null;
            }

            @Override
            void finish() {
                // A script that waits for its answer does not outlive the switch.
                session.ports().callbacks.run(show);
            }
        });
    }

    /** Confirms what runs. The result is whether it was a trial. */
    public void notifyAppReady(Callback<Boolean> callback) {
        begin(new Call<Boolean>(callback) {
            @Override
            Boolean answer() throws IOException {
                return session.run().confirm();
            }
        });
    }

    public void current(Callback<CurrentContent> callback) {
        begin(new Call<CurrentContent>(callback) {
            @Override
            CurrentContent answer() throws IOException {
                return describe(session.run().outcome.content, session.device().status());
            }
        });
    }

    private CurrentContent describe(Content content, Status status) {
        State state = status == null ? null : status.state;
        SlotRecord slot = state == null ? null : state.slot(content.slot());
        boolean isTrial = state != null && state.boot.trial && state.boot.current.equals(content);
        if (slot == null) {
            String build = session.app().binary().code;
            String version = session.app().binary().name;
            return new CurrentContent(content.isEmbedded(), "embedded:" + build, version, build, isTrial);
        }
        return new CurrentContent(false, slot.updateId, slot.version, slot.buildNumber, isTrial);
    }

    /** What the next start tries; null: nothing new. */
    public void getNext(Callback<UpdateInfo> callback) {
        begin(new Call<UpdateInfo>(callback) {
            @Override
            UpdateInfo answer() throws Exception {
                State state = session.state();
                SlotRecord slot = state.slot(state.boot.next);
                return slot == null ? null : UpdateInfo.of(slot);
            }
        });
    }

    /** The installed updates. */
    public void list(Callback<List<UpdateInfo>> callback) {
        begin(new Call<List<UpdateInfo>>(callback) {
            @Override
            List<UpdateInfo> answer() throws Exception {
                session.state();
                List<UpdateInfo> updates = new ArrayList<UpdateInfo>();
                for (SlotRecord slot : session.device().list()) {
                    updates.add(UpdateInfo.of(slot));
                }
                return updates;
            }
        });
    }

    /** Runs the embedded content from the next start on. */
    public void reset(Callback<Void> callback) {
        begin(new Call<Void>(callback) {
            @Override
            Void answer() throws Exception {
                session.state();
                session.device().reset();
                session.rounds().forgetNext();
                return null;
            }
        });
    }

    /** The last update that failed on this binary; null: none did. */
    public void getFailedUpdate(Callback<FailedInfo> callback) {
        begin(new Call<FailedInfo>(callback) {
            @Override
            FailedInfo answer() throws Exception {
                session.state();
                FailedUpdate failed = session.device().failed();
                return failed == null ? null : new FailedInfo(UpdateInfo.of(failed), failed.reason);
            }
        });
    }

    public void getDeviceId(Callback<String> callback) {
        begin(new Call<String>(callback) {
            @Override
            String answer() throws Exception {
                return session.state().deviceId;
            }
        });
    }
}
