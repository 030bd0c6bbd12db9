"""Every topic has its own accent colour, the same in each message and after each restart."""

from __future__ import annotations

from hashlib import blake2s

from bot.briefs.model import Topic

# Chosen to be told apart, and to stand out on Discord's dark and light backgrounds alike.
KNOWN = {
    "data-ai": 0x7C6CF2,  # violet
    "cloud": 0x2FA4E7,  # sky
    "hardware": 0xEB8634,  # amber
    "science": 0x2BB39B,  # teal
    "security": 0xE5484D,  # red
    "software": 0x4CB05A,  # green
}
OTHERS = (
    0x5B8DEF,
    0xD15FB0,
    0xB98A2F,
    0x38A3A5,
    0xF0616D,
    0x8E6BD8,
    0x6AA84F,
    0xE2725B,
    0x3F88C5,
    0xC0679A,
    0x9A7B4F,
    0x56A3A6,
)
NEUTRAL = 0x8690A2


def accent(topic: Topic | None) -> int:
    """A topic's colour as 0xRRGGBB: chosen for the known ones, by hash for others, grey without a topic.

    Never 0: discord.py 2.7.1 drops a black accent (fixed after it).
    """
    if topic is None:
        return NEUTRAL
    slug = topic.slug or topic.name.casefold()
    if slug in KNOWN:
        return KNOWN[slug]
    digest = blake2s(slug.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return OTHERS[int.from_bytes(digest) % len(OTHERS)]
