"""Static files under names that carry their content, compressed beside themselves."""

from __future__ import annotations

from typing import Any

import brotli
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

# A first visit stays under 2.5 MB; the last 11 % of MuJoCo's 10 MB would cost 25 s more at each install.
BROTLI_QUALITY = 9


class QuickCompressor(Compressor):
    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        compressed: bytes = brotli.compress(data, quality=BROTLI_QUALITY)
        return compressed


class StaticStorage(CompressedManifestStaticFilesStorage):
    def create_compressor(self, **kwargs: Any) -> QuickCompressor:
        return QuickCompressor(**kwargs)
