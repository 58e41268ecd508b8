"""This project's tokenizer for Octo's text encoder: byte-level BPE, trained on instructions and everyday words."""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from policies.octo.sizes import END_ID, PAD_ID

SPECIALS = {PAD_ID: "<pad>", END_ID: "</s>"}
# Words that people may type and no training text has. Each takes about one token, so that sentences stay short.
EVERYDAY = """
please grab lift get bring move set lay drop carry place put take pick stack hold give fetch push pull turn slide up
down over under above below onto into inside near next to beside behind front left right side middle hand table plate
dish bowl saucer tray can bottle tin tube cup ball orb marble sphere cube block box brick cylinder red yellow blue
green orange purple white black small big little round the a an that this its it there and then now you your me my for
from with of on off at is are would could can will should stop open close gripper arm robot first second one two other
object thing leave rest top
"""


def train_tokenizer(texts: Iterable[str], vocabulary: int) -> Tokenizer:
    """The same texts give the same tokenizer. It can read any text, if need be byte by byte."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[SPECIALS[number] for number in sorted(SPECIALS)],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([*sorted(set(texts)), *EVERYDAY.split() * 3], trainer)
    return tokenizer
