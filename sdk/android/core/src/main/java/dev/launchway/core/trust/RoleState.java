/** Whether a delegated role has to be fetched. */
package dev.launchway.core.trust;

final class RoleState {
    /** The delegator does not name it. */
    static final RoleState NOT_DELEGATED = new RoleState(0);
    /** The trusted file is the one that the snapshot lists. */
    static final RoleState CURRENT = new RoleState(0);

    /** The version that the snapshot lists and that has to be fetched; 0 if none has to. */
    final long wanted;

    private RoleState(long wanted) {
        this.wanted = wanted;
    }

    static RoleState wanted(long version) {
        return new RoleState(version);
    }
}
