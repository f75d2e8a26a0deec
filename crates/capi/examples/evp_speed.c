/* The provider beside OpenSSL's own ciphers, through EVP: messages in one call, and in pieces.
 *
 *   cc -O2 evp_speed.c -lcrypto -o evp_speed
 *   ./evp_speed ~/.local/lib/ossl-modules [SECONDS]
 *
 * Both take turns; the least time of each counts. Prints nanoseconds a message, and how many times as long OpenSSL takes. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LONGEST = 16 << 20 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Nanoseconds to seal a message of `len` bytes in pieces of `piece`, the mean of `times`; negative if a step failed. */
static double sealed(EVP_CIPHER_CTX *ctx, int len, int piece, unsigned char *text, unsigned char *out, int times)
{
    static unsigned char nonce[12], tag[16];
    int ok = 1, n = 0;
    double start = now();
    for (int i = 0; ok && i < times; i++) {
        for (int byte = 0; byte < 4 && ++nonce[byte] == 0; byte++)
            ;
        int done = 0;
        ok = EVP_EncryptInit_ex2(ctx, NULL, NULL, nonce, NULL);
        for (int at = 0; ok && at < len; at += piece) {
            ok = EVP_EncryptUpdate(ctx, out + done, &n, text + at, len - at < piece ? len - at : piece);
            done += n;
        }
        ok = ok && EVP_EncryptFinal_ex(ctx, out + done, &n) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag) > 0;
    }
    return ok ? (now() - start) / times : -1;
}

int main(int argc, char **argv)
{
    static const char *const suites[] = {"AES-256-GCM", "AES-256-OCB"}, *const from[] = {"provider=sealwright", "provider=default"};
    static const int cases[][2] = {{64, 64},         {1500, 1500},      {16384, 16384},     {65536, 100},
                                   {65536, 1000},    {1 << 20, 16384},  {LONGEST, 65536}};
    static const unsigned char key[32] = {1};
    double seconds = argc > 2 ? atof(argv[2]) : 0.5;
    unsigned char *text = calloc(LONGEST, 1), *out = malloc(LONGEST + 16);
    if (argc < 2 || !text || !out || !OSSL_PROVIDER_set_default_search_path(NULL, argv[1]) ||
        !OSSL_PROVIDER_load(NULL, "sealwright") || !OSSL_PROVIDER_load(NULL, "default")) {
        fprintf(stderr, "usage: evp_speed FOLDER [SECONDS]\nhint: FOLDER is lib/ossl-modules of the installation\n");
        return 2;
    }
    printf("%-12s %10s %10s %12s %12s %8s\n", "", "bytes", "a piece", "Sealwright", "OpenSSL", "times");
    for (int suite = 0; suite < 2; suite++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            int len = cases[i][0], piece = cases[i][1], times = 200000 / (len + 1000) + 1;
            double best[2] = {1e18, 1e18};
            EVP_CIPHER_CTX *ctx[2];
            for (int side = 0; side < 2; side++) {
                EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, suites[suite], from[side]);
                ctx[side] = EVP_CIPHER_CTX_new();
                if (!cipher || !EVP_EncryptInit_ex2(ctx[side], cipher, key, NULL, NULL))
                    return 1;
                EVP_CIPHER_free(cipher);
            }
            double end = now() + seconds * 1e9;
            do
                for (int side = 0; side < 2; side++) {
                    double took = sealed(ctx[side], len, piece, text, out, times);
                    if (took < 0)
                        return 1;
                    if (took < best[side])
                        best[side] = took;
                }
            while (now() < end);
            printf("%-12s %10d %10d %12.0f %12.0f %8.2f\n", suites[suite], len, piece, best[0], best[1], best[1] / best[0]);
            EVP_CIPHER_CTX_free(ctx[0]);
            EVP_CIPHER_CTX_free(ctx[1]);
        }
    free(text);
    free(out);
    return 0;
}
