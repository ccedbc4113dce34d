// The entry point of the SDK on Apple platforms.
import LaunchwayCore
