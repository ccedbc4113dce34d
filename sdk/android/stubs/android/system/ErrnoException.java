/** For tests: the failure of a system call. */
package android.system;

public final class ErrnoException extends Exception {
    private static final long serialVersionUID = 1;

    public ErrnoException(String call, int number) {
        super(call + " failed with " + number);
    }
}
