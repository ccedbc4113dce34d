/** A package cannot be installed. */
package dev.launchway.core.slots;

import dev.launchway.core.packages.PackageException;

public final class InstallException extends Exception {
    private static final long serialVersionUID = 1;

    public enum Kind {
        /** The package breaks a rule, and does so for ever. */
        FAULTY,
        /** Its files are not those that were promised. */
        WRONG_FILES,
        /** There is too little room. */
        NO_SPACE
    }

    public final Kind kind;

    private InstallException(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    static InstallException faulty(PackageException fault) {
        return new InstallException(Kind.FAULTY, fault.getMessage(), fault);
    }

    static InstallException collision(String path) {
        String message = "the package and its file list differ at `" + path + "`";
        return new InstallException(Kind.FAULTY, message, null);
    }

    public static InstallException wrongFiles() {
        String message = "the files of the package differ from the published files";
        return new InstallException(Kind.WRONG_FILES, message, null);
    }

    static InstallException noSpace(long needed, long free) {
        String message = "installing needs " + needed + " bytes, and " + free + " are free";
        return new InstallException(Kind.NO_SPACE, message, null);
    }
}
