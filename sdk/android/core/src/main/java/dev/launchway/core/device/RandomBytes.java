/** Gives random bytes. */
package dev.launchway.core.device;

public interface RandomBytes {
    byte[] next(int count);
}
