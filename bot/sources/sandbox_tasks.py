"""The worker process of the sandbox: reads tasks with their bytes from standard input and writes JSON answers."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from typing import IO, Any

from bot.errors import SourceError
from bot.sources import feed


def read_feed(body: bytes, **options: Any) -> Any:
    """A feed's bytes as JSON types; see ``feed.parse``."""
    return feed.to_json(feed.parse(body, **options))


TASKS: dict[str, Callable[..., Any]] = {"feed": read_feed}


def answer(head: bytes, body: bytes) -> dict[str, Any]:
    """Run one task; its value, or what to tell a person."""
    request = json.loads(head)
    try:
        return {"value": TASKS[request["task"]](body, **request["options"])}
    except SourceError as error:
        return {"error": error.reason, "remedy": error.remedy}
    except MemoryError:
        return {"error": "reading it needed too much memory"}
    except RecursionError:
        return {"error": "it is nested too deeply to be read"}
    except Exception as error:  # a parser's own fault on strange input: the source fails, the bot goes on
        return {"error": f"it could not be read ({type(error).__name__}: {str(error)[:200]})"}


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Answer until the pipe ends."""
    while len(sizes := source.read(8)) == 8:
        head = source.read(int.from_bytes(sizes[:4], "big"))
        body = source.read(int.from_bytes(sizes[4:], "big"))
        raw = json.dumps(answer(head, body), ensure_ascii=True).encode()
        sink.write(len(raw).to_bytes(4, "big") + raw)
        sink.flush()


def main() -> None:
    """Bound this process, keep standard output for answers alone, and serve."""
    memory = int(sys.argv[1])
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        serve(sys.stdin.buffer, sink)


if __name__ == "__main__":
    main()
