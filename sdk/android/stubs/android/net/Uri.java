/** For tests: the address of content. */
package android.net;

public abstract class Uri {}
