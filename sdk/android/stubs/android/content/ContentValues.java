/** For tests: values for a provider. */
package android.content;

public final class ContentValues {}
