"""Discord is asked less often than it would allow, so that it never has to refuse.

Three bounds. All messages together: 40 a second, under the global 50 that interactions and look-backs share
(https://discord.com/developers/docs/topics/rate-limits#global-rate-limit). One channel: 4 messages in a window of 5 s,
one under the 5 that Discord's headers show, because discord.py sleeps after the message that takes a bucket's last
token, when the message exists but its id is not known yet. Refused requests: Discord bans an address at 10,000 in 10
minutes (https://discord.com/developers/docs/topics/rate-limits#invalid-request-limit-aka-cloudflare-bans).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

RATE = 40.0  # messages a second
BURST = 5.0  # so at most 45 in any second
PER_CHANNEL = 4
WINDOW = 5.0  # seconds

REFUSED_MOST = 2_000  # refused requests in REFUSED_WINDOW after which nothing is sent: a fifth of Discord's bound
REFUSED_WINDOW = 600.0  # seconds

Clock = Callable[[], float]


class Pacing:
    """A token bucket over all channels and a sliding window for each; times are seconds of a monotonic clock."""

    def __init__(
        self,
        *,
        rate: float = RATE,
        burst: float = BURST,
        per_channel: int = PER_CHANNEL,
        window: float = WINDOW,
        clock: Clock = time.monotonic,
    ) -> None:
        self._rate, self._burst, self._per_channel, self._window, self._clock = rate, burst, per_channel, window, clock
        self._tokens, self._counted_at = burst, clock()
        self._taken: dict[int, deque[float]] = {}

    def take(self, channel_id: int) -> None:
        """Count one message to a channel; ``delay`` and ``resting`` say beforehand whether it may go."""
        now = self._clock()
        self._refill(now)
        self._tokens -= 1
        self._taken.setdefault(channel_id, deque(maxlen=self._per_channel)).append(now)

    def delay(self) -> float:
        """Seconds until one more message may go to any channel; 0 if now."""
        self._refill(self._clock())
        return max(0.0, (1 - self._tokens) / self._rate)

    def resting(self) -> dict[int, float]:
        """The channels that have had their messages, and the seconds until each may have another."""
        now = self._clock()
        # Forgetting those that have been quiet for a window keeps the table as small as the traffic.
        self._taken = {c: taken for c, taken in self._taken.items() if now - taken[-1] < self._window}
        full = {c: taken[0] + self._window - now for c, taken in self._taken.items() if len(taken) == self._per_channel}
        return {channel_id: wait for channel_id, wait in full.items() if wait > 0}

    def _refill(self, now: float) -> None:
        self._tokens = min(self._burst, self._tokens + (now - self._counted_at) * self._rate)
        self._counted_at = now


class Refusals:
    """How many requests Discord has refused lately; past a bound, or while told to, everything rests."""

    def __init__(
        self, *, most: int = REFUSED_MOST, window: float = REFUSED_WINDOW, clock: Clock = time.monotonic
    ) -> None:
        self._most, self._window, self._clock = most, window, clock
        self._times: deque[float] = deque(maxlen=most)
        self._rest_until = clock()

    def note(self) -> None:
        """Count one answer of 401, 403 or 429 (429s of scope ``shared`` do not count)."""
        self._times.append(self._clock())

    def __len__(self) -> int:
        """Those counted so far in the window, up to the bound."""
        while self._times and self._times[0] <= self._clock() - self._window:
            self._times.popleft()
        return len(self._times)

    def rest(self, seconds: float) -> None:
        """Send nothing for so long: Discord has said so for the whole bot."""
        self._rest_until = max(self._rest_until, self._clock() + seconds)

    def wait(self) -> float:
        """Seconds until anything may be sent; 0 if now."""
        now = self._clock()
        full = len(self) == self._most
        return max(0.0, self._rest_until - now, self._times[0] + self._window - now if full else 0.0)
