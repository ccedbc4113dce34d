/** The checks that every file of metadata passes before it is trusted. */
package dev.launchway.core.trust;

import dev.launchway.core.json.FormException;
import dev.launchway.core.text.IsoTime;
import dev.launchway.core.trust.metadata.Authority;
import dev.launchway.core.trust.metadata.Identity;
import dev.launchway.core.trust.metadata.MetaFile;
import dev.launchway.core.trust.metadata.Metadata;
import dev.launchway.core.trust.metadata.MetadataType;

final class Checks {
    private Checks() {}

    /** Reads a file of this repository and app; null: of any. */
    static <T> Metadata<T> read(String role, byte[] bytes, MetadataType<T> type, Identity identity)
            throws RoleException {
        Metadata<T> file;
        try {
            file = Metadata.parse(bytes, type);
        } catch (FormException malformed) {
            throw new RoleException(role, Reason.MALFORMED, malformed.getMessage());
        }
        if (identity != null && !identity.equals(file.identity)) {
            throw new RoleException(role, Reason.OTHER_REPOSITORY_OR_APP, "is for another repository or app");
        }
        return file;
    }

    /** Reads a file that another one lists: its bytes, signatures and version must be as listed. */
    static <T> Metadata<T> readListed(
            String role, byte[] bytes, MetadataType<T> type, Identity identity, MetaFile listed, Authority authority)
            throws RoleException {
        if (!listed.isOf(bytes)) {
            throw new RoleException(role, Reason.OTHER_FILE, "does not have the signed length or SHA-256");
        }
        Metadata<T> file = read(role, bytes, type, identity);
        verify(role, authority, file);
        expectVersion(role, listed.version, file);
        return file;
    }

    /** Whether the trusted file, which may be null, is the one that is listed, and valid. */
    static boolean isCurrent(Metadata<?> file, MetaFile listed, long now) {
        return file != null && !file.isExpired(now) && listed.isOf(file);
    }

    static void verify(String role, Authority authority, Metadata<?> file) throws RoleException {
        if (!authority.verifies(file)) {
            throw new RoleException(
                    role,
                    Reason.TOO_FEW_SIGNATURES,
                    "is signed by fewer than the " + authority.threshold() + " keys that must sign");
        }
    }

    static void expectVersion(String role, long expected, Metadata<?> file) throws RoleException {
        if (file.version != expected) {
            String fault = "has version " + file.version + " instead of " + expected;
            throw new RoleException(role, Reason.OTHER_VERSION, fault);
        }
    }

    static void expectNoRollback(String role, long trusted, long found) throws RoleException {
        if (found < trusted) {
            String fault = "has version " + found + ", below " + trusted + ", which was trusted before";
            throw new RoleException(role, Reason.ROLLBACK, fault);
        }
    }

    /** Checks that the role names no lower version of another file than the one that was trusted before. */
    static void expectNoListedRollback(String role, String name, long trusted, long found) throws RoleException {
        if (found < trusted) {
            String fault = "names version " + found + " of `" + name + "`, below " + trusted;
            throw new RoleException(role, Reason.NAMES_ROLLBACK, fault + ", which was trusted before");
        }
    }

    static void expectValid(String role, Metadata<?> file, long now) throws RoleException {
        if (file.isExpired(now)) {
            throw new RoleException(role, Reason.EXPIRED, "expired " + IsoTime.write(file.expires));
        }
    }
}
