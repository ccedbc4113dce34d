/** Whether a cache on the way to the server may answer. */
package dev.launchway.core.net;

public enum Caches {
    USED,
    /** A cache has to ask the server. */
    BYPASSED
}
