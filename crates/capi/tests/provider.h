/* What the provider's tests share. */
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong, right;

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (what)                                                                                                      \
            right++;                                                                                                   \
        else if (wrong++ < 50)                                                                                         \
            printf("line %d: %s\n", __LINE__, #what);                                                                  \
    } while (0)

static const char *const SUITES[] = {"AES-128-GCM", "AES-192-GCM", "AES-256-GCM", "AES-128-OCB", "AES-192-OCB", "AES-256-OCB"};

/* Loads our provider, which is in `folder`, and OpenSSL's own. */
static int load(const char *folder)
{
    OSSL_PROVIDER_set_default_search_path(NULL, folder);
    if (OSSL_PROVIDER_load(NULL, "sealwright") && OSSL_PROVIDER_load(NULL, "default"))
        return 1;
    ERR_print_errors_fp(stdout);
    return 0;
}

/* A cipher of both. */
static int fetch(const char *name, EVP_CIPHER **ours, EVP_CIPHER **theirs)
{
    *ours = EVP_CIPHER_fetch(NULL, name, "provider=sealwright");
    *theirs = EVP_CIPHER_fetch(NULL, name, "provider=default");
    CHECK(*ours != NULL && *theirs != NULL);
    return *ours && *theirs;
}

/* A test that checks less than `least` things checks too little. */
static int verdict(int least)
{
    printf("%d wrong of %s\n", wrong, right > least ? "enough" : "too few");
    return wrong != 0 || right <= least;
}
