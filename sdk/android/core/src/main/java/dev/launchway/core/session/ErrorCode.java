/** Why a call failed, as all packages of the SDK name it. */
package dev.launchway.core.session;

public enum ErrorCode {
    /** The app does not say which server it asks. */
    NOT_CONFIGURED("notConfigured"),
    INVALID_ARGUMENT("invalidArgument"),
    /** Another process of the app decides. */
    NOT_MAIN("notMain"),
    /** The client has not started. */
    NOT_STARTED("notStarted"),
    STATE_CORRUPT("stateCorrupt"),
    STORAGE("storage"),
    NO_SPACE("noSpace"),
    /** The server is out of reach. */
    NETWORK("network"),
    /** The server responds with an error. */
    SERVER("server"),
    INVALID_ANSWER("invalidAnswer"),
    /** The app's developers did not sign it. The message begins with the code of the refusal. */
    UNVERIFIED("unverified"),
    DOWNLOAD_FAILED("downloadFailed"),
    BAD_PACKAGE("badPackage"),
    NOT_FOUND("notFound"),
    /** The framework cannot switch while the app runs. */
    RELOAD_UNSUPPORTED("reloadUnsupported"),
    /** The SDK is switched off here. */
    UNAVAILABLE("unavailable"),
    UNKNOWN("unknown");

    private final String code;

    ErrorCode(String code) {
        this.code = code;
    }

    /** The name in every language. */
    public String code() {
        return code;
    }
}
