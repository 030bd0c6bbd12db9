"""The imports obey the arrows of docs/design.md: cli -> app -> chat, delivery, sources -> store -> briefs."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "bot").rglob("*.py"))

# What each part may import of the project. errors and model-free constants are for everybody.
MAY_IMPORT = {
    "briefs": {"briefs"},
    "store": {"store", "briefs"},
    "sources": {"sources", "store", "briefs"},
    "delivery": {"delivery", "store", "briefs"},
    "chat": {"chat", "delivery", "store", "briefs"},
    "config": {"sources", "delivery"},  # check_url, and what a time, a day and a zone may be
    "log": set(),
    "errors": set(),
    "app": {"app", "chat", "delivery", "sources", "store", "briefs", "config", "log"},
    "tasks": {"app", "delivery", "sources", "store", "briefs", "config"},
    "playground": {"app", "chat", "delivery", "sources", "store", "briefs", "config", "log"},
    "cli": {"cli", "tasks", "app", "playground", "chat", "delivery", "sources", "store", "briefs", "config", "log"},
    "__main__": {"cli"},
    "__init__": set(),
}

LIBRARIES = {
    "discord": lambda part, module: part in ("chat", "playground"),
    "simcord": lambda part, module: part == "playground",
    "sqlalchemy": lambda part, module: part == "store",
    "alembic": lambda part, module: part == "store",
    "aiosqlite": lambda part, module: part == "store",
    "aiohttp": lambda part, module: part == "chat" or module == "sources.http",
    "apscheduler": lambda part, module: part == "app",
    "typer": lambda part, module: part == "cli",
    "rich": lambda part, module: part in ("cli", "log"),
    "pydantic": lambda part, module: part in ("config", "app"),
    "lxml": lambda part, module: part in ("briefs", "sources"),
}


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: imports are absolute"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def part_of(path: Path) -> str:
    return path.relative_to(ROOT / "bot").with_suffix("").parts[0]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_arrow_points_up(path: Path) -> None:
    part = part_of(path)
    used = {name.split(".")[1] for name in imports(path) if name.startswith("bot.")}
    wrong = used - MAY_IMPORT[part] - {"errors", "__version__"}
    assert not wrong, f"{part} may not import {wrong}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_libraries_stay_where_they_belong(path: Path) -> None:
    part, module = part_of(path), ".".join(path.relative_to(ROOT / "bot").with_suffix("").parts)
    for name in imports(path):
        allowed = LIBRARIES.get(name.split(".")[0])
        assert allowed is None or allowed(part, module), f"{module} may not import {name}"


def test_briefs_are_pure() -> None:
    """No clock, no I/O, no network in what a brief is."""
    for path in (ROOT / "bot" / "briefs").glob("*.py"):
        impure = {
            n for n in imports(path) if n.split(".")[0] in {"asyncio", "os", "pathlib", "socket", "time", "random"}
        }
        assert not impure, f"{path.name} imports {impure}"
