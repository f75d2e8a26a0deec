/* A library with the static library inside. It is compiled twice, and its only function has another name each time. */
#include <sealwright.h>

const char *PART(int fails);

/* The last error here, after one more if `fails`. */
const char *PART(int fails)
{
    sealwright_key *key = NULL;
    if (fails && sealwright_key_new("rot-13", NULL, 0, &key) != SEALWRIGHT_ERROR_SUITE)
        return "another error";
    return sealwright_last_error();
}
