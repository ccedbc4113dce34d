/** For tests: the class of the same name in Android. */
package android.app;

import android.content.Context;

public abstract class Activity extends Context {}
