/** For tests: stands in for Android's class. */
package android.content;

public class ContentValues {}
