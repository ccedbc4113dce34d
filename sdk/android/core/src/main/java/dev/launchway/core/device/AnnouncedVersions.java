/** The versions of root and snapshot that the server has. They only decide whether metadata is fetched early. */
package dev.launchway.core.device;

public final class AnnouncedVersions {
    public final long root;
    public final long snapshot;

    public AnnouncedVersions(long root, long snapshot) {
        this.root = root;
        this.snapshot = snapshot;
    }
}
