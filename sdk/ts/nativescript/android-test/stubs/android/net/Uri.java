/** For tests: stands in for Android's class. */
package android.net;

public class Uri {}
