/** For tests: how a process ended. */
package android.app;

import android.os.Level;

public final class ApplicationExitInfo {
    private final int id;
    private final long at;
    private final int reason;

    public ApplicationExitInfo(int id, long at, int reason) {
        Level.require(30);
        this.id = id;
        this.at = at;
        this.reason = reason;
    }

    public int getPid() {
        return id;
    }

    public long getTimestamp() {
        return at;
    }

    public int getReason() {
        return reason;
    }
}
