/* The static library in a program, beside two libraries that have their own copy of it inside, and functions that have the names of
 * functions in the static library. */
#include <sealwright.h>
#include <stdio.h>

const char *one(int fails);
const char *other(int fails);

int OSSL_provider_init(void);
void rust_eh_personality(void);

/* A program that is itself a provider for OpenSSL has this function. */
int OSSL_provider_init(void)
{
    return 7;
}

/* Another static library in Rust has this one. */
void rust_eh_personality(void)
{
}

static int wrong;

static void expect(int right, const char *what)
{
    if (!right)
        printf("%s\n", what), wrong++;
}

int main(void)
{
    /* An error of one copy is none of the others. */
    expect(sealwright_last_error() == NULL && one(0) == NULL && other(0) == NULL, "an error before any");
    expect(one(1) != NULL && other(0) == NULL && sealwright_last_error() == NULL, "the copies are one");
    expect(other(1) != NULL && sealwright_last_error() == NULL, "the program has a library's copy");

    static const uint8_t secret[32] = {1}, nonce[12] = {2};
    uint8_t message[5 + SEALWRIGHT_TAG_LEN];
    sealwright_key *key = NULL;
    expect(sealwright_key_new("aes-256-gcm", secret, sizeof secret, &key) == SEALWRIGHT_OK, "no key");
    expect(sealwright_seal(key, nonce, sizeof nonce, NULL, 0, (const uint8_t *)"hello", 5, message) == SEALWRIGHT_OK, "not sealed");
    message[0] ^= 1;
    expect(sealwright_open(key, nonce, sizeof nonce, NULL, 0, message, sizeof message, message) == SEALWRIGHT_ERROR_NOT_AUTHENTIC,
           "not refused");
    sealwright_key_free(key);
    expect(OSSL_provider_init() == 7, "another provider");
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
