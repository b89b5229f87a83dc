"""Controls Firefox by WebDriver BiDi, because `playwright` controls only a Firefox of its own.

Needs Firefox and tornado, whose client speaks WebSocket. Without them, tests that import this
module are skipped.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import shutil
import subprocess
import tempfile
from contextlib import asynccontextmanager

import pytest

FIREFOX = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
if FIREFOX is None:
    pytest.skip("Firefox is not installed", allow_module_level=True)
websocket = pytest.importorskip("tornado.websocket", reason="tornado is not installed")

START_S = 60
ANSWER_S = 120


class Tab:
    """Tab of a running Firefox."""

    def __init__(self, socket, context=""):
        self._socket, self._numbers, self.context = socket, itertools.count(1), context
        self.complaints = []
        """Messages of the console, errors of scripts, and requests to other machines."""

    async def call(self, method, **parameters):
        """Calls a method and returns its result. Raises `RuntimeError` with Firefox's message."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        await self._socket.write_message(json.dumps(message))
        while True:
            text = await asyncio.wait_for(self._socket.read_message(), ANSWER_S)
            found = json.loads(text)
            if found.get("type") == "event":
                self._note(found)
            elif found["id"] == number and found["type"] == "error":
                raise RuntimeError(found["message"])
            elif found["id"] == number:
                return found["result"]

    def _note(self, event):
        if event["method"] == "log.entryAdded":
            self.complaints.append(event["params"]["text"])
        elif event["method"] == "network.beforeRequestSent":
            url = event["params"]["request"]["url"]
            if not url.startswith(("file:", "blob:", "data:")):
                self.complaints.append(url)

    async def open(self, url):
        await self.call("browsingContext.navigate", context=self.context, url=url, wait="complete")

    async def evaluate(self, expression):
        """Returns the value of a JavaScript expression, or of its promise, converted by JSON."""
        found = await self.call(
            "script.evaluate",
            expression=f"Promise.resolve({expression}).then(JSON.stringify)",
            target={"context": self.context},
            awaitPromise=True,
        )
        if found["type"] == "exception":
            raise RuntimeError(found["exceptionDetails"]["text"])
        return json.loads(found["result"].get("value", "null"))


@asynccontextmanager
async def opened():
    """Starts Firefox without a window, with a profile of its own, and yields a tab."""
    with tempfile.TemporaryDirectory(prefix="nodeb-firefox-") as profile:
        command = [FIREFOX, "--headless", "--no-remote", "--profile", profile]
        process = subprocess.Popen(
            [*command, "--remote-debugging-port", "0"], stderr=subprocess.PIPE, text=True
        )
        try:
            address = await asyncio.wait_for(asyncio.to_thread(_address, process), START_S)
            socket = await websocket.websocket_connect(
                f"{address}/session", max_message_size=1 << 26
            )
            tab = Tab(socket)
            await tab.call("session.new", capabilities={})
            tree = await tab.call("browsingContext.getTree")
            tab.context = tree["contexts"][0]["context"]
            events = ["log.entryAdded", "network.beforeRequestSent"]
            await tab.call("session.subscribe", events=events, contexts=[tab.context])
            yield tab
        finally:
            process.kill()
            process.wait()
            process.stderr.close()


def _address(process):
    for line in process.stderr:
        found = re.search(r"WebDriver BiDi listening on (\S+)", line)
        if found:
            return found[1]
    raise RuntimeError("Firefox ended")
