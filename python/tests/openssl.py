"""The system's OpenSSL through its C functions: a referee that shares no code with the package."""

import ctypes
import ctypes.util

GET_TAG, SET_TAG, SET_IVLEN = 0x10, 0x11, 0x9  # EVP_CTRL_AEAD_*, openssl/evp.h


def load():
    """libcrypto of OpenSSL 3, or None."""
    name = ctypes.util.find_library("crypto")
    if name is None:
        return None
    library = ctypes.CDLL(name)
    if not hasattr(library, "EVP_CIPHER_fetch"):
        return None
    for function in ("EVP_CIPHER_fetch", "EVP_CIPHER_CTX_new"):
        getattr(library, function).restype = ctypes.c_void_p
    return library


LIBRARY = load()


def seal(cipher, key, nonce, data, ad):
    """Ciphertext and tag by the cipher with OpenSSL's name `cipher`, such as AES-256-GCM."""
    lib = LIBRARY
    fetched = ctypes.c_void_p(lib.EVP_CIPHER_fetch(None, cipher.encode(), None))
    context = ctypes.c_void_p(lib.EVP_CIPHER_CTX_new())
    out, tag, length = ctypes.create_string_buffer(len(data) + 32), ctypes.create_string_buffer(16), ctypes.c_int()
    try:
        steps = [
            lib.EVP_EncryptInit_ex(context, fetched, None, None, None),
            lib.EVP_CIPHER_CTX_ctrl(context, SET_IVLEN, len(nonce), None),
            lib.EVP_EncryptInit_ex(context, None, None, key, nonce),
        ]
        if ad:
            steps.append(lib.EVP_EncryptUpdate(context, None, ctypes.byref(length), ad, len(ad)))
        done = 0
        if data:
            steps.append(lib.EVP_EncryptUpdate(context, out, ctypes.byref(length), data, len(data)))
            done = length.value
        steps.append(lib.EVP_EncryptFinal_ex(context, ctypes.byref(out, done), ctypes.byref(length)))
        done += length.value
        steps.append(lib.EVP_CIPHER_CTX_ctrl(context, GET_TAG, 16, tag))
        assert all(step == 1 for step in steps), (cipher, steps)
        return out.raw[:done] + tag.raw
    finally:
        lib.EVP_CIPHER_CTX_free(context)
        lib.EVP_CIPHER_free(fetched)
