"""Bytes from strangers are parsed in a process of their own, which is killed when it takes too long or too much.

In the bot's own process a hostile feed would stop the Discord heartbeat: feedparser 6.0.14 needs 19 s for 40,000
attributes on one element, and for ever for some others (feeds.md, section 1).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from typing import Any, Self

from bot.errors import SourceError

SECONDS = 5.0
MEMORY = 512 * 2**20
_LONGEST_ANSWER = 64 * 2**20


class Sandbox:
    """One worker process, started when it is first needed and again after each that had to be killed.

    ``run(task, body, **options)`` gives the JSON value that ``bot.sources.sandbox_tasks.TASKS[task]`` returns for the
    bytes. Raises SourceError with the task's own reason, or where it took too long, too much memory, or died.
    """

    def __init__(self, *, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self.seconds, self.memory = seconds, memory
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def run(self, task: str, body: bytes, *, seconds: float | None = None, **options: Any) -> Any:
        """Run one task in its turn; the time counts from when it is begun."""
        async with self._turn:
            process = self._process or await self._start()
            self._process = None  # until the answer is whole, this process is not to be used again
            try:
                async with asyncio.timeout(seconds or self.seconds):
                    answer = await self._ask(process, task, body, options)
            except TimeoutError:
                raise SourceError(f"reading it took longer than {seconds or self.seconds:g} s") from None
            except (asyncio.IncompleteReadError, ConnectionError, json.JSONDecodeError):
                raise SourceError("reading it needed too much memory or crashed the reader") from None
            else:
                self._process, process = process, None  # type: ignore[assignment]
            finally:
                if process is not None:
                    await _end(process)
        if "error" in answer:
            raise SourceError(answer["error"], answer.get("remedy", ""))
        return answer["value"]

    async def close(self) -> None:
        """End the worker process."""
        process, self._process = self._process, None
        if process:
            await _end(process)

    async def _start(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bot.sources.sandbox_tasks",
            str(self.memory),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )

    @staticmethod
    async def _ask(process: asyncio.subprocess.Process, task: str, body: bytes, options: dict[str, Any]) -> Any:
        assert process.stdin
        assert process.stdout
        head = json.dumps({"task": task, "options": options}).encode()
        process.stdin.write(len(head).to_bytes(4, "big") + len(body).to_bytes(4, "big") + head + body)
        await process.stdin.drain()
        size = int.from_bytes(await process.stdout.readexactly(4), "big")
        if size > _LONGEST_ANSWER:
            raise ConnectionError
        return json.loads(await process.stdout.readexactly(size))


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await asyncio.shield(process.wait())
    if process.stdin:
        process.stdin.close()
