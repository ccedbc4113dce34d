/** Receives the result of a call: one of the two, once. */
package dev.launchway.core.session;

public interface Callback<T> {
    void onResult(T result);

    void onError(ErrorCode code, String message);
}
