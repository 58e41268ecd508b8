"""The arena's signing key: Ed25519 (RFC 8032), by the package cryptography.

The key is `ARENA_SIGNING_KEY`, or else derived from the arena's secret key (HKDF with SHA-256, RFC 5869), so that all
processes of an arena have the same one. It signs bundles and the manifests of dumps.
"""

from __future__ import annotations

import base64
import binascii
import hashlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings

ALGORITHM = "ed25519"
KEY_BYTES, SIGNATURE_BYTES = 32, 64
PURPOSE = b"vla-arena data signing"
"""Keeps the derived key apart from everything else that the secret key signs."""


class NoSigningKey(Exception):
    """The arena has no secret of its own to sign with."""


class BadKey(ValueError):
    """A text that is no Ed25519 key."""


def private_key() -> Ed25519PrivateKey:
    """Raises NoSigningKey, and BadKey for a setting that is no key."""
    if settings.SIGNING_KEY:
        return Ed25519PrivateKey.from_private_bytes(_bytes_of(settings.SIGNING_KEY, "ARENA_SIGNING_KEY"))
    if settings.SECRET_KEY == settings.BUILT_IN_SECRET_KEY:
        raise NoSigningKey(
            "this arena has no secret key yet to derive a signing key from; start it once with `manage.py up`, or set "
            "ARENA_SECRET_KEY or ARENA_SIGNING_KEY"
        )
    derived = HKDF(SHA256(), KEY_BYTES, salt=None, info=PURPOSE).derive(settings.SECRET_KEY.encode())
    return Ed25519PrivateKey.from_private_bytes(derived)


def public_key() -> str:
    """`ed25519:` and the base64 of the 32 bytes. Raises what `private_key` does."""
    return text_of(private_key().public_key())


def text_of(key: Ed25519PublicKey) -> str:
    raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return f"{ALGORITHM}:{base64.b64encode(raw).decode()}"


def fingerprint(key: str) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of a public key's bytes, for people to compare."""
    return hashlib.sha256(_bytes_of(key, "the key")).hexdigest()[:16]


def sign(content: bytes) -> bytes:
    """Base64 of the signature, with a line end. Raises what `private_key` does."""
    return base64.b64encode(private_key().sign(content)) + b"\n"


def is_signed(content: bytes, signature: bytes, key: str) -> bool:
    """Whether `signature` (base64) is that of `content` by the public `key`. Raises BadKey for what is no key."""
    public = Ed25519PublicKey.from_public_bytes(_bytes_of(key, "the key"))
    try:
        public.verify(base64.b64decode(signature, validate=False), content)
    except (InvalidSignature, binascii.Error):
        return False
    return True


def checked_key(text: str) -> str:
    """A public key as `public_key` writes it. Raises BadKey."""
    raw = _bytes_of(text.strip(), "the key")
    return f"{ALGORITHM}:{base64.b64encode(raw).decode()}"


def _bytes_of(text: str, name: str) -> bytes:
    try:
        raw = base64.b64decode(text.strip().removeprefix(f"{ALGORITHM}:"), validate=True)
    except binascii.Error:
        raw = b""
    if len(raw) != KEY_BYTES:
        raise BadKey(f"{name} is no {ALGORITHM} key; expected {ALGORITHM}: and the base64 of {KEY_BYTES} bytes")
    return raw
