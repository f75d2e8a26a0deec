/* Streams of `arguments.c`: functions of the caller that fail, and that use the stream which calls them. */

static int fails(void *state, const uint8_t *bytes, size_t len)
{
    (void)state, (void)bytes, (void)len;
    return 5;
}

static int fails_once(void *state, const uint8_t *bytes, size_t len)
{
    (void)bytes, (void)len;
    return ++*(int *)state == 2;
}

static int lies(void *state, uint8_t *bytes, size_t len, size_t *got)
{
    (void)state, (void)bytes;
    *got = len + 1;
    return 0;
}

static int ends(void *state, uint8_t *bytes, size_t len, size_t *got)
{
    (void)state, (void)bytes, (void)len;
    *got = 0;
    return 0;
}

struct kept {
    uint8_t bytes[400];
    size_t len, at;
    int calls;
};

static int keeps(void *state, const uint8_t *bytes, size_t len)
{
    struct kept *kept = state;
    if (len > sizeof kept->bytes - kept->len)
        return 1;
    memcpy(kept->bytes + kept->len, bytes, len);
    kept->len += len;
    return 0;
}

static int gives(void *state, uint8_t *bytes, size_t len, size_t *got)
{
    struct kept *kept = state;
    *got = len < kept->len - kept->at ? len : kept->len - kept->at;
    memcpy(bytes, kept->bytes + kept->at, *got);
    kept->at += *got;
    return 0;
}

static void streams(void)
{
    sealwright_sealer *sealer = NULL;
    sealwright_opener *opener = NULL;
    const char *suite = "aes-256-gcm";
    EXPECT(sealwright_sealer_new(suite, SECRET, 31, NULL, 0, fails, NULL, &sealer), SEALWRIGHT_ERROR_KEY_LENGTH);
    EXPECT(sealwright_sealer_new(suite, SECRET, 32, NULL, 0, NULL, NULL, &sealer), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_sealer_new(suite, SECRET, 32, NULL, 0, fails, NULL, &sealer), SEALWRIGHT_OK);
    EXPECT(sealwright_sealer_write(sealer, SECRET, 32), SEALWRIGHT_ERROR_IO);
    EXPECT(strstr(sealwright_last_error(), "returned 5") != NULL, 1);
    EXPECT(sealwright_sealer_finish(sealer), SEALWRIGHT_ERROR_ENDED);
    sealwright_sealer_free(sealer);
    /* A function that fails once: the text went in part, and must not come twice, nor count as whole. */
    static uint8_t text[200000];
    int calls = 0;
    EXPECT(sealwright_sealer_new(suite, SECRET, 32, NULL, 0, fails_once, &calls, &sealer), SEALWRIGHT_OK);
    EXPECT(sealwright_sealer_write(sealer, text, sizeof text), SEALWRIGHT_ERROR_IO);
    EXPECT(sealwright_sealer_write(sealer, text, sizeof text), SEALWRIGHT_ERROR_ENDED);
    EXPECT(sealwright_sealer_finish(sealer), SEALWRIGHT_ERROR_ENDED);
    sealwright_sealer_free(sealer);
    EXPECT(sealwright_opener_new(suite, SECRET, 31, NULL, 0, ends, NULL, &opener), SEALWRIGHT_ERROR_KEY_LENGTH);
    EXPECT(sealwright_opener_new(suite, SECRET, 32, NULL, 0, ends, NULL, &opener), SEALWRIGHT_ERROR_NOT_AUTHENTIC);
    EXPECT(sealwright_opener_new(suite, SECRET, 32, NULL, 0, lies, NULL, &opener), SEALWRIGHT_ERROR_IO);
    /* Room for nothing is not the end. */
    struct kept kept = {{0}, 0, 0, 0};
    EXPECT(sealwright_sealer_new(suite, SECRET, 32, NULL, 0, keeps, &kept, &sealer), SEALWRIGHT_OK);
    EXPECT(sealwright_sealer_write(sealer, text, 5), SEALWRIGHT_OK);
    EXPECT(sealwright_sealer_finish(sealer), SEALWRIGHT_OK);
    sealwright_sealer_free(sealer);
    EXPECT(sealwright_opener_new(suite, SECRET, 32, NULL, 0, gives, &kept, &opener), SEALWRIGHT_OK);
    size_t got = 9;
    EXPECT(sealwright_opener_read(opener, text, 0, &got), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_opener_read(opener, text, 9, &got), SEALWRIGHT_OK);
    EXPECT((int)got, 5);
    EXPECT(sealwright_opener_read(opener, text, 9, &got), SEALWRIGHT_OK);
    EXPECT((int)got, 0);
    got = 77;
    EXPECT(sealwright_opener_read(NULL, text, 9, &got) == SEALWRIGHT_ERROR_ARGUMENT && got == 0, 1);
    sealwright_opener_free(opener);
    EXPECT(sealwright_sealer_write(NULL, SECRET, 32), SEALWRIGHT_ERROR_ARGUMENT);
}

/* What a write that fails has taken is unknown: a stream of which one failed is never whole, though the next would succeed. */
static int takes_half_once(void *state, const uint8_t *bytes, size_t len)
{
    struct kept *kept = state;
    int fails = ++kept->calls == 2;
    return keeps(state, bytes, fails ? len / 2 : len) || fails;
}

static void ends_that_fail(void)
{
    sealwright_sealer *sealer = NULL;
    struct kept kept = {{0}, 0, 0, 0};
    static const uint8_t text[100];
    const char *suite = "aes-256-gcm";
    EXPECT(sealwright_sealer_new(suite, SECRET, 32, NULL, 0, takes_half_once, &kept, &sealer), SEALWRIGHT_OK);
    EXPECT(sealwright_sealer_write(sealer, text, sizeof text), SEALWRIGHT_OK);
    EXPECT(sealwright_sealer_finish(sealer), SEALWRIGHT_ERROR_IO);
    size_t len = kept.len;
    for (int again = 0; again < 2; again++) {
        EXPECT(sealwright_sealer_finish(sealer), SEALWRIGHT_ERROR_ENDED);
        EXPECT(strstr(sealwright_last_error(), "begin another") != NULL, 1);
        EXPECT(sealwright_sealer_write(sealer, NULL, 0), SEALWRIGHT_ERROR_ENDED);
        EXPECT(sealwright_sealer_write(sealer, text, 5), SEALWRIGHT_ERROR_ENDED);
    }
    EXPECT(kept.len == len, 1);
    sealwright_sealer_free(sealer);
    /* An end that was written may be asked for again; text that comes too late is refused, also none. */
    kept.len = 0;
    EXPECT(sealwright_sealer_new(suite, SECRET, 32, NULL, 0, keeps, &kept, &sealer), SEALWRIGHT_OK);
    for (int again = 0; again < 2; again++) {
        EXPECT(sealwright_sealer_finish(sealer), SEALWRIGHT_OK);
        EXPECT(sealwright_sealer_write(sealer, NULL, 0), SEALWRIGHT_ERROR_ENDED);
        EXPECT(sealwright_sealer_write(sealer, text, 5), SEALWRIGHT_ERROR_ENDED);
    }
    sealwright_sealer_free(sealer);
}

/* A stream whose function uses the stream itself, and what these uses answered. */
static struct within {
    struct kept kept;
    sealwright_sealer *sealer;
    sealwright_opener *opener;
    int told, answers[2];
    size_t got;
} within;

static int tells_in_use(void)
{
    return strstr(sealwright_last_error(), "in use") != NULL;
}

static int writes_within(void *state, const uint8_t *bytes, size_t len)
{
    within.told = 1;
    within.answers[0] = sealwright_sealer_write(within.sealer, SECRET, 5), within.told &= tells_in_use();
    within.answers[1] = sealwright_sealer_finish(within.sealer), within.told &= tells_in_use();
    within.told &= sealwright_sealer_new("rot-13", NULL, 0, NULL, 0, NULL, NULL, NULL) != SEALWRIGHT_OK;
    sealwright_sealer_free(within.sealer), within.told &= tells_in_use();
    return keeps(state, bytes, len);
}

static int reads_within(void *state, uint8_t *bytes, size_t len, size_t *got)
{
    uint8_t text[9];
    /* It is not there yet while it is made. */
    within.told = 1;
    within.answers[0] = sealwright_opener_read(within.opener, text, 9, &within.got);
    if (within.opener != NULL) {
        within.told &= tells_in_use();
        within.told &= sealwright_sealer_new("rot-13", NULL, 0, NULL, 0, NULL, NULL, NULL) != SEALWRIGHT_OK;
        sealwright_opener_free(within.opener), within.told &= tells_in_use();
    }
    return gives(state, bytes, len, got);
}

static void used_from_within(void)
{
    const char *suite = "aes-256-gcm";
    uint8_t text[100] = {7}, back[100];
    EXPECT(sealwright_sealer_new(suite, SECRET, 32, NULL, 0, writes_within, &within.kept, &within.sealer), SEALWRIGHT_OK);
    EXPECT(sealwright_sealer_write(within.sealer, text, sizeof text), SEALWRIGHT_OK);
    EXPECT(sealwright_sealer_finish(within.sealer), SEALWRIGHT_OK);
    EXPECT(within.answers[0], SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(within.answers[1], SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(within.told, 1);
    sealwright_sealer_free(within.sealer);
    EXPECT(sealwright_opener_new(suite, SECRET, 32, NULL, 0, reads_within, &within.kept, &within.opener), SEALWRIGHT_OK);
    /* The same place for both lengths: that of the call outside is set last. */
    EXPECT(sealwright_opener_read(within.opener, back, sizeof back, &within.got), SEALWRIGHT_OK);
    EXPECT(within.got == sizeof back && memcmp(back, text, sizeof back) == 0, 1);
    EXPECT(within.answers[0], SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(within.told, 1);
    sealwright_opener_free(within.opener);
}
