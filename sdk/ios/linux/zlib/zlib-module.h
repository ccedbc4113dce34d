/* zlib under the name of the module that Apple's SDKs have. */
#include <zlib.h>
