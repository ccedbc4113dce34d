/** For tests: whether the network costs is what the test sets. */
package android.net;

public class ConnectivityManager {
    public boolean isMetered;
    public boolean isForbidden;

    public boolean isActiveNetworkMetered() {
        if (isForbidden) {
            throw new SecurityException("ACCESS_NETWORK_STATE");
        }
        return isMetered;
    }
}
