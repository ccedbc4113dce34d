/** For tests: what the manifest says of the app. */
package android.content.pm;

import android.os.Bundle;

public class ApplicationInfo {
    public String processName;
    public Bundle metaData;
}
