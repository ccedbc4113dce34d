/** For tests: whether the device was unlocked is what the test sets. */
package android.os;

public class UserManager {
    public boolean isUnlocked = true;

    public boolean isUserUnlocked() {
        Level.require(24);
        return isUnlocked;
    }
}
