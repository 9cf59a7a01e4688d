// The cryptography of OpenSSL 3, as Debian's libssl-dev installs it.
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// EVP_EC_gen is a macro for a function that takes any number of arguments, and Swift cannot call such a function.
static inline EVP_PKEY *openssl_new_p256_key(void) { return EVP_EC_gen("P-256"); }
