# SPDX-License-Identifier: Apache-2.0
"""Pages in a browser, where there is one."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

# scripts/setup.sh installs the first where none of them is.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)


def seen_in(where: str, width: int = 1400) -> str:
    """The document at a URL after its scripts ran, in a window of `width` pixels."""
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={Path.cwd()}/browser",
               f"--window-size={width},1000", "--dump-dom", where]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=1200, check=True).stdout


def opened(page: str, width: int = 1400) -> str:
    path = Path("page.html")
    path.write_text(page, encoding="utf-8")
    return seen_in(path.resolve().as_uri(), width)


def acted(page: str, actions: str, width: int = 1400) -> dict:
    """Returns what a reader saw after a script's actions, which leaves that in the title."""
    document = opened(page.replace("</script>", f"{actions}</script>"), width)
    return json.loads(html.unescape(re.search(r"<title>(.*?)</title>", document, re.S)[1]))


def screenshot(page: Path, fragment: str, width: int = 1400, height: int = 1100) -> bytes:
    """A picture (PNG) of a page, at a part of it."""
    picture = Path("page.png")
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={Path.cwd()}/browser",
               f"--window-size={width},{height}", f"--screenshot={picture.resolve()}",
               f"{page.resolve().as_uri()}#{fragment}"]  # fmt: skip
    subprocess.run(command, capture_output=True, timeout=1200, check=True)
    return picture.read_bytes()
