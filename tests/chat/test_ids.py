"""A custom_id is written and read strictly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.chat import ids, limits
from bot.chat.ids import Address

numbers = st.lists(st.integers(0, 999_999_999), max_size=3).map(tuple)
addresses = st.builds(
    Address,
    st.integers(0, 2**63 - 1),
    st.from_regex(r"[0-9A-Za-z._-]{0,25}", fullmatch=True),
    st.from_regex(r"[a-z]{1,8}", fullmatch=True),
    numbers,
)


@given(addresses)
def test_an_address_is_read_back(address: Address) -> None:
    assert ids.parse(str(address)) == address
    assert len(str(address)) <= limits.CUSTOM_ID


@given(st.text(max_size=120) | st.text(max_size=60).map("brief:1:a:".__add__))
def test_only_what_would_be_written_is_read(text: str) -> None:
    address = ids.parse(text)
    assert address is None or str(address) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "brief:",
        "brief:1:a:",
        "brief:01:a:read",
        "brief:-1:a:read",
        "brief:1:a b:read",
        "brief:1:a:READ",
        "brief:1:a:read.",
        "brief:1:a:read.01",
        "brief:1:a:read.1.2.3.4",
        "brief:1:a:read\n",
        "brief:١:a:read",
        "brief:9223372036854775808:a:read",
        f"brief:1:{'a' * 26}:read",
        "other:1:a:read",
    ],
)
def test_what_is_forged_is_none(text: str) -> None:
    assert ids.parse(text) is None


@pytest.mark.parametrize("address", [Address(-1, "a", "read"), Address(1, "a:b", "read"), Address(1, "a" * 26, "read")])
def test_what_cannot_be_written_is_refused(address: Address) -> None:
    with pytest.raises(ValueError, match="no custom_id"):
        str(address)


def test_marks_are_found_wherever_they_stand() -> None:
    inside = {"type": 2, "custom_id": "brief:7:d00d.1f:read"}
    other = {"type": 2, "custom_id": "brief:7::read"}
    tree = [{"type": 17, "components": [{"type": 1, "components": [inside, other, {"type": 2, "custom_id": "x"}]}]}]
    assert ids.marks(tree) == {"d00d.1f"}
