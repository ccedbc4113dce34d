/** An offered update is not installed. */
package dev.launchway.core.trust;

import dev.launchway.core.versions.Version;

public final class OfferException extends RefusalException {
    private static final long serialVersionUID = 1;

    /** Why it is not. */
    public enum Fault {
        MALFORMED_ANSWER("malformed-answer", "the response has no version and build number"),
        NOT_SIGNED("not-signed", "no role signed it"),
        OTHER_PACKAGE("other-package", "the signed update differs from the offered one"),
        REVOKED("revoked", "the package was revoked"),
        OTHER_PLATFORM("other-platform", "it is for another platform"),
        OTHER_FINGERPRINT("other-fingerprint", "its fingerprint differs from the app's"),
        NOT_NEWER("not-newer", "it is not newer than the running version");

        private final String code;
        private final String message;

        Fault(String code, String message) {
            this.code = code;
            this.message = message;
        }
    }

    private final Fault fault;

    public OfferException(Fault fault) {
        this(fault, fault.message);
    }

    private OfferException(Fault fault, String message) {
        super(message);
        this.fault = fault;
    }

    static OfferException notSigned(Version version, long build) {
        return new OfferException(Fault.NOT_SIGNED, "no role signed version " + version + " build " + build);
    }

    public Fault fault() {
        return fault;
    }

    @Override
    public String code() {
        return fault.code;
    }

    @Override
    public boolean mayPass() {
        return fault == Fault.NOT_SIGNED;
    }
}
