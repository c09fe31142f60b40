"""What `import hippograph` offers."""

from __future__ import annotations

import hippograph


def test_every_public_name_loads() -> None:
    assert set(hippograph.__all__) == set(hippograph._HOME_OF)
    for name in hippograph.__all__:
        assert getattr(hippograph, name) is not None
    assert set(hippograph.__all__) <= set(dir(hippograph))
