/** For tests: stands in for Android's class. */
package android.database;

public class Cursor {}
