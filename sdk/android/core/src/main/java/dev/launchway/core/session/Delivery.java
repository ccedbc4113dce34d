/** Passes the result of a call to the app, where the app's callbacks are. */
package dev.launchway.core.session;

final class Delivery {
    private Delivery() {}

    static <T> void result(Worker callbacks, final Callback<T> callback, final T result) {
        callbacks.run(new Runnable() {
            @Override
            public void run() {
                callback.onResult(result);
            }
        });
    }

    static void error(Worker callbacks, final Callback<?> callback, final SessionException failure) {
        callbacks.run(new Runnable() {
            @Override
            public void run() {
                callback.onError(failure.code, failure.getMessage());
            }
        });
    }
}
