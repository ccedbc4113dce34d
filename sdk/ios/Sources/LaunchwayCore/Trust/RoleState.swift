// Whether a delegated role has to be fetched.

enum RoleState {
    /// The delegator does not name it.
    case notDelegated
    /// The trusted file is the one that the snapshot lists.
    case current
    /// The snapshot lists this version, and it has to be fetched.
    case wanted(version: Int)
}
