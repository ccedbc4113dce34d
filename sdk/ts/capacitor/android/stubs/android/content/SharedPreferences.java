/** For tests: the part of the interface of the same name in Android that the plugin uses. */
package android.content;

public interface SharedPreferences {
    interface Editor {
        Editor putString(String key, String value);

        boolean commit();
    }

    Editor edit();

    String getString(String key, String otherwise);
}
