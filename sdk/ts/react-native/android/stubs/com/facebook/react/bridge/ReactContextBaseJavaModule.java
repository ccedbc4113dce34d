/** For tests: what the module extends. */
package com.facebook.react.bridge;

public abstract class ReactContextBaseJavaModule implements NativeModule {
    public ReactContextBaseJavaModule(ReactApplicationContext context) {}

    @Override
    public void invalidate() {}
}
