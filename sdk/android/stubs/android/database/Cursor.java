/** For tests: the result of a query. */
package android.database;

public interface Cursor {}
