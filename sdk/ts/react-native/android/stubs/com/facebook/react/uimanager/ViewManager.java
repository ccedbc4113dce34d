/** For tests: stands in for React Native's class. */
package com.facebook.react.uimanager;

public abstract class ViewManager<V, S> {}
