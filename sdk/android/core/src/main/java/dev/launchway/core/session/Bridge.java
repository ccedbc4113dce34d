/** The calls and events of a session as JSON texts, for frameworks that pass them to a script and back. */
package dev.launchway.core.session;

import dev.launchway.core.json.JsonException;
import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.json.JsonWriter;
import dev.launchway.core.text.Utf8;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

public final class Bridge {
    /** Receives the result of a call: one of the two, once. */
    public interface Reply {
        void resolve(String json);

        void reject(String code, String message);
    }

    /** Receives events. */
    public interface Listener {
        void onEvent(String name, String payload);
    }

    private static final int MAX_ARGUMENTS = 64 << 10;

    private final Session session;
    private final Calls calls;
    /** Passes events to the script; null: nobody listens. */
    private SessionListener listening;

    public Bridge(Session session) {
        this.session = session;
        this.calls = session.calls();
    }

    /** Passes events to {@code listener} from now on, and to nobody else; null ends it. */
    public synchronized void listen(final Listener listener) {
        if (listening != null) {
            session.removeListener(listening);
        }
        listening = listener == null ? null : new SessionListener() {
            @Override
            public void onEvent(Event event) {
                listener.onEvent(event.type.code(), JsonWriter.ascii(event.payload()));
            }
        };
        if (listening != null) {
            session.addListener(listening);
        }
    }

    /** Calls a method. {@code arguments} is a JSON object; null or an empty text is an empty one. */
    public void call(String method, String arguments, Reply reply) {
        JsonValue given;
        try {
            given = read(arguments);
        } catch (JsonException malformed) {
            reject(reply, ErrorCode.INVALID_ARGUMENT, "the arguments are not valid: it " + malformed.getMessage());
            return;
        }
        if (given.asObject() == null) {
            reject(reply, ErrorCode.INVALID_ARGUMENT, "the arguments must be an object");
        } else if (method.equals("configure")) {
            calls.configure(given, new Nothing(reply));
        } else if (method.equals("next")) {
            next(given, reply);
        } else if (!given.asObject().isEmpty()) {
            reject(reply, ErrorCode.INVALID_ARGUMENT, method + " takes no arguments");
        } else if (!callRound(method, reply) && !callOther(method, reply)) {
            reject(reply, ErrorCode.INVALID_ARGUMENT, "`" + method + "` is not a method");
        }
    }

    private static JsonValue read(String arguments) throws JsonException {
        boolean isMissing = arguments == null || arguments.isEmpty();
        return isMissing
                ? JsonValue.object(JsonValue.newMembers())
                : JsonReader.read(Utf8.encode(arguments), MAX_ARGUMENTS);
    }

    private void next(JsonValue given, Reply reply) {
        JsonValue id = given.get("id");
        if (id == null || id.asText() == null || id.asText().isEmpty() || given.asObject().size() > 1) {
            reject(reply, ErrorCode.INVALID_ARGUMENT, "next takes the id of an update");
            return;
        }
        calls.next(id.asText(), new Member<UpdateInfo>(reply, "update") {
            @Override
            JsonValue value(UpdateInfo update) {
                return update.toJson();
            }
        });
    }

    private boolean callRound(String method, Reply reply) {
        Encoded<RoundResult> result = new Encoded<RoundResult>(reply) {
            @Override
            JsonValue encode(RoundResult round) {
                return round.toJson();
            }
        };
        if (method.equals("check")) {
            calls.check(result);
        } else if (method.equals("download")) {
            calls.download(result);
        } else if (method.equals("sync")) {
            calls.sync(result);
        } else {
            return false;
        }
        return true;
    }

    private boolean callOther(String method, Reply reply) {
        if (method.equals("reload")) {
            calls.reload(new Nothing(reply));
        } else if (method.equals("reset")) {
            calls.reset(new Nothing(reply));
        } else if (method.equals("notifyAppReady")) {
            calls.notifyAppReady(new Member<Boolean>(reply, "confirmed") {
                @Override
                JsonValue value(Boolean confirmed) {
                    return JsonValue.of(confirmed.booleanValue());
                }
            });
        } else if (method.equals("getDeviceId")) {
            calls.getDeviceId(new Member<String>(reply, "deviceId") {
                @Override
                JsonValue value(String id) {
                    return JsonValue.of(id);
                }
            });
        } else {
            return callQuery(method, reply);
        }
        return true;
    }

    private boolean callQuery(String method, Reply reply) {
        if (method.equals("current")) {
            calls.current(new Encoded<CurrentContent>(reply) {
                @Override
                JsonValue encode(CurrentContent content) {
                    return content.toJson();
                }
            });
        } else if (method.equals("getNext")) {
            calls.getNext(new Member<UpdateInfo>(reply, "update") {
                @Override
                JsonValue value(UpdateInfo update) {
                    return UpdateInfo.toJson(update);
                }
            });
        } else if (method.equals("list")) {
            calls.list(new Member<List<UpdateInfo>>(reply, "updates") {
                @Override
                JsonValue value(List<UpdateInfo> updates) {
                    List<JsonValue> items = new ArrayList<JsonValue>();
                    for (UpdateInfo update : updates) {
                        items.add(update.toJson());
                    }
                    return JsonValue.array(items);
                }
            });
        } else if (method.equals("getFailedUpdate")) {
            calls.getFailedUpdate(new Encoded<FailedInfo>(reply) {
                @Override
                JsonValue encode(FailedInfo failed) {
                    return FailedInfo.toJson(failed);
                }
            });
        } else {
            return false;
        }
        return true;
    }

    private void reject(final Reply reply, final ErrorCode code, final String message) {
        session.ports().callbacks.run(new Runnable() {
            @Override
            public void run() {
                reply.reject(code.code(), message);
            }
        });
    }

    /** Writes a result as JSON. */
    private abstract static class Encoded<T> implements Callback<T> {
        private final Reply reply;

        Encoded(Reply reply) {
            this.reply = reply;
        }

        abstract JsonValue encode(T result);

        @Override
        public final void onResult(T result) {
            reply.resolve(JsonWriter.ascii(encode(result)));
        }

        @Override
        public final void onError(ErrorCode code, String message) {
            reply.reject(code.code(), message);
        }
    }

    /** Writes a result as the only member of an object. */
    private abstract static class Member<T> extends Encoded<T> {
        private final String name;

        Member(Reply reply, String name) {
            super(reply);
            this.name = name;
        }

        abstract JsonValue value(T result);

        @Override
        final JsonValue encode(T result) {
            Map<String, JsonValue> members = JsonValue.newMembers();
            members.put(name, value(result));
            return JsonValue.object(members);
        }
    }

    /** Writes an empty object. */
    private static final class Nothing extends Encoded<Void> {
        Nothing(Reply reply) {
            super(reply);
        }

        @Override
        JsonValue encode(Void nothing) {
            return JsonValue.object(JsonValue.newMembers());
        }
    }
}
