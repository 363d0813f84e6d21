# SPDX-License-Identifier: Apache-2.0
"""The traced block: a recorder, files written at its end, and a page served meanwhile."""

from __future__ import annotations

import json
import os
import threading
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

from .files import REPORT, TABLE, TRACE, chrome_trace, op_table, report_page, write_files
from .recorder import Recorder
from .records import ProfilerError, Run

HOST = "127.0.0.1"


class Trace:
    """A context manager; see `trace`. runs: what was recorded so far; url: of the page, None when it is not served."""

    def __init__(self, directory: str | os.PathLike[str], port: int | None = None):
        if port is not None and not (isinstance(port, int) and 0 <= port <= 65535):
            raise ProfilerError(f"trace: port {port!r} is none; expected 0 to 65535 (0: any that is free), or None")
        self.directory, self.port = Path(directory), port
        self.recorder = Recorder()
        self._server: ThreadingHTTPServer | None = None

    @property
    def runs(self) -> list[Run]:
        return self.recorder.snapshot()[1]

    @property
    def url(self) -> str | None:
        return f"http://{HOST}:{self._server.server_address[1]}/" if self._server is not None else None

    def __enter__(self) -> Trace:
        # What cannot be written is said before the work is done, not after.
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ProfilerError(f"trace: cannot make {self.directory}: {error.strerror or error}") from error
        if not os.access(self.directory, os.W_OK):
            raise ProfilerError(f"trace: {self.directory} is not writable")
        if self.port is not None:
            self._serve(self.port)
        self.recorder.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.recorder.stop()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
        write_files(self.directory, *self.recorder.snapshot())

    def _serve(self, port: int) -> None:
        try:
            server = ThreadingHTTPServer((HOST, port), handler(self.recorder))
        except OSError as error:
            message = f"trace: the report is not served: port {port}: {error.strerror}; it will be in {self.directory}"
            warnings.warn(message, RuntimeWarning, stacklevel=3)
            return
        server.daemon_threads = True
        self._server = server
        threading.Thread(target=server.serve_forever, name="profiler", daemon=True).start()


def trace(log_dir: str | os.PathLike[str], port: int | None = None) -> Trace:
    """Records every program that is submitted in a `with` block.

    Args:
        log_dir: made when it is not there; at the end of the block gets report.html, trace.json and ops.csv.
        port: serve the report on http://127.0.0.1:port/ while the block runs; 0 for any that is free. A busy port is a
            warning. None serves nothing.
    Raises:
        ProfilerError: the directory cannot be made or written, or the port is no number of one.
    """
    return Trace(log_dir, port)


def handler(recorder: Recorder) -> type[BaseHTTPRequestHandler]:
    pages = {
        "/": ("text/html", lambda: report_page(*recorder.snapshot(), live=True)),
        f"/{REPORT}": ("text/html", lambda: report_page(*recorder.snapshot())),
        f"/{TRACE}": ("application/json", lambda: json.dumps(chrome_trace(*recorder.snapshot()))),
        f"/{TABLE}": ("text/csv", lambda: op_table(*recorder.snapshot())),
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path.partition("?")[0])
            if page is None:
                self.send_error(404, explain=f"there are {', '.join(pages)}")
                return
            kind, make = page
            body = make().encode()
            self.send_response(200)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Drops the log lines of requests."""

    return Handler
