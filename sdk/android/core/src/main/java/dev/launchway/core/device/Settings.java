/** What an app says about itself and about how it wants to be updated. */
package dev.launchway.core.device;

public final class Settings {
    /** The platform that this client serves, as the server names it. */
    public static final String PLATFORM = "android";

    /** The address of the service's API, such as `https://host/api`, without a slash at the end. */
    public final String serverUrl;
    public final String bundleId;
    /** The version of the content inside the binary. */
    public final String version;
    /** The fingerprint of the binary; null if it is not known. */
    public String fingerprint;
    /** The configuration whose updates the app takes; null: the server's default. */
    public String configuration;
    /** The file that the app starts with, which every package must contain. */
    public String entryFile = "index.html";
    /** How many installed packages are kept, if fewer are needed. */
    public int keepSlots = 2;
    /** Whether packages are downloaded on unmetered connections only. */
    public boolean wifiOnly;

    public Settings(String serverUrl, String bundleId, String version) {
        int end = serverUrl.length();
        while (end > 0 && serverUrl.charAt(end - 1) == '/') {
            end--;
        }
        this.serverUrl = serverUrl.substring(0, end);
        this.bundleId = bundleId;
        this.version = version;
    }
}
