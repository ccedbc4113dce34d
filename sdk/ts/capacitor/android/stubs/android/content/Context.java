/** For tests: the part of the class of the same name in Android that the plugin uses. */
package android.content;

public abstract class Context {
    public static final int MODE_PRIVATE = 0;

    public abstract SharedPreferences getSharedPreferences(String name, int mode);
}
