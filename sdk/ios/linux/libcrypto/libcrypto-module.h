/* The part of libcrypto that does on Linux what CryptoKit does on Apple platforms. */
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
