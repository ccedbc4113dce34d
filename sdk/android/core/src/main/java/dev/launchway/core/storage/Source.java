/** A file that is read from any place. */
package dev.launchway.core.storage;

import dev.launchway.core.packages.PackageSource;
import java.io.Closeable;

public interface Source extends PackageSource, Closeable {}
