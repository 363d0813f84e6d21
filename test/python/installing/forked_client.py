# SPDX-License-Identifier: Apache-2.0
"""Asks the server of forked_python.py for a fork, and ends as the fork ends.

python -IS forked_client.py SOCKET PYTHON [ARGUMENT ...]
"""

import json
import os
import signal
import socket
import sys


def main(address: str, python: str, *arguments: str) -> None:
    first = arguments[0] if arguments else "-"
    if first.startswith("-") and first not in ("-c", "-m"):  # options of Python, or a program from standard input
        os.execv(python, [python, *arguments])
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(address)
    request = {"arguments": arguments, "environment": dict(os.environ), "folder": os.getcwd()}
    data = json.dumps(request).encode() + b"\0"
    sent = socket.send_fds(connection, [data], [0, 1, 2])
    connection.sendall(data[sent:])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda number, _: connection.sendall(bytes([number])))
    answer = connection.recv(16).decode()
    if answer == "new":
        os.execv(python, [python, *arguments])
    code = int(answer or 1)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
        os.kill(os.getpid(), -code)
    sys.exit(code)


main(*sys.argv[1:])
