from hypothesis import given, settings
from hypothesis import strategies as st

from bot.delivery.pacing import Pacing, Refusals
from bot.delivery.worker import Backoff


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(1, 12), st.floats(0, 0.4)), max_size=150))
def test_no_bound_is_ever_passed(steps: list[tuple[int, float]]) -> None:
    """Whoever takes only when told so never passes 45 in a second nor 4 in five seconds of a channel."""
    clock = Clock()
    pacing = Pacing(clock=clock)
    taken: list[tuple[float, int]] = []
    for channel, pause in steps:
        clock.now += pause
        clock.now += pacing.delay() + 1e-6
        clock.now += pacing.resting().get(channel, 0.0) + 1e-6
        pacing.take(channel)
        taken.append((clock.now, channel))
    for moment, channel in taken:
        assert sum(moment - 1 < t <= moment for t, _ in taken) <= 45
        assert sum(moment - 5 < t <= moment and c == channel for t, c in taken) <= 4


def test_many_channels_are_served_at_the_full_rate() -> None:
    clock = Clock()
    pacing = Pacing(clock=clock)
    for channel in range(400):
        clock.now += pacing.delay()
        pacing.take(channel)
    assert 9.5 < clock.now - 1000 < 10.1


def test_quiet_channels_are_forgotten() -> None:
    clock = Clock()
    pacing = Pacing(clock=clock)
    for channel in range(1000):
        pacing.take(channel)
    clock.now += 5.1
    assert pacing.resting() == {}
    assert not pacing._taken


def test_refusals_rest_everything_well_before_discord_bans() -> None:
    clock = Clock()
    refusals = Refusals(clock=clock)
    for _ in range(1999):
        refusals.note()
    assert refusals.wait() == 0
    clock.now += 100
    refusals.note()
    assert refusals.wait() == 500
    assert len(refusals) == 2000
    clock.now += 500
    assert refusals.wait() == 0
    assert len(refusals) == 1


def test_a_rest_is_kept_to_its_end_and_never_shortened() -> None:
    clock = Clock()
    refusals = Refusals(clock=clock)
    refusals.rest(60)
    refusals.rest(5)
    assert refusals.wait() == 60
    clock.now += 61
    assert refusals.wait() == 0


@given(st.integers(1, 10_000))
def test_backoff_grows_to_its_bound_and_no_further(attempts: int) -> None:
    wait = Backoff().after(attempts)
    assert 0 < wait <= 900
    assert wait >= min(900, 2 * 2 ** min(attempts - 1, 20)) / 2
