"""Static files under names that carry their content, compressed beside themselves."""

from __future__ import annotations

from typing import Any

import brotli
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

BROTLI_QUALITY = 6  # the last 12 % of MuJoCo's 10 MB would cost 25 s more at each install


class QuickCompressor(Compressor):
    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        compressed: bytes = brotli.compress(data, quality=BROTLI_QUALITY)
        return compressed


class StaticStorage(CompressedManifestStaticFilesStorage):
    def create_compressor(self, **kwargs: Any) -> QuickCompressor:
        return QuickCompressor(**kwargs)
