/** What the reports of an update are authenticated with. */
package dev.launchway.core.storage;

public final class ReportToken {
    public final String updateId;
    public final String token;

    public ReportToken(String updateId, String token) {
        this.updateId = updateId;
        this.token = token;
    }
}
