"""Sealwright: authenticated encryption of messages and files.

The AEAD classes have the interface of pyca/cryptography::

    from sealwright import AESGCM

    key = AESGCM.generate_key(bit_length=256)
    message = AESGCM(key).encrypt(nonce, b"text", b"associated data")

`RandomNonceKey` draws its own nonces, and is the safe choice for a stored key. `Sealer` and `Opener` count them. `seal`, `open` and
`SealedFile` work on files of any size. See docs/PYTHON.md of the repository.
"""

from ._sealwright import (
    AESGCM,
    AESGCMSIV,
    AESOCB3,
    XAES256GCM,
    Error,
    InvalidTag,
    Key,
    Opener,
    PublicKey,
    RandomNonceKey,
    Replayed,
    Sealer,
    SecretKey,
    SessionClient,
    Sessions,
    Unsupported,
    WrongKey,
    __version__,
    inspect,
    isa,
    open as open,  # Not in `__all__`: there it would replace the built-in one.
    seal,
    suites,
    verify,
)
from .sealedfile import SealedFile

__all__ = [
    "AESGCM",
    "AESGCMSIV",
    "AESOCB3",
    "Error",
    "InvalidTag",
    "Key",
    "Opener",
    "PublicKey",
    "RandomNonceKey",
    "Replayed",
    "SealedFile",
    "Sealer",
    "SecretKey",
    "SessionClient",
    "Sessions",
    "Unsupported",
    "WrongKey",
    "XAES256GCM",
    "__version__",
    "inspect",
    "isa",
    "seal",
    "suites",
    "verify",
]
