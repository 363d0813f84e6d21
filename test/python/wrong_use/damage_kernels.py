# SPDX-License-Identifier: Apache-2.0
"""Damages a TTMetal file outside of the text of its kernels and runs what loads, in one process.

    python damage_kernels.py FILE COUNT SEED

Prints a line before each damaged file, its number, and one after it: `ran`, or the error. Ends by itself if a run
hangs.
"""

from __future__ import annotations

import random
import re
import signal
import sys
from pathlib import Path

import _ttmlir_runtime as rt

SECONDS = 60  # of one run
NUMBERS = (0, 1, 2, 3, 4, 8, 16, 31, 32, 64, 255, 1024, 4096, 103712, 1499136, 2**31 - 1, 2**31, 2**32 - 1)
STEPS = (-1, 1, 2, 4, 16, 32, 4096)


def damaged(data: bytes, places: list[int], choice: random.Random) -> bytes:
    """One to three bytes or words that are others."""
    result = bytearray(data)
    for _ in range(choice.choice([1, 1, 1, 2, 3])):
        place, kind = choice.choice(places), choice.random()
        word = place & ~3
        if kind < 0.3:
            result[place] = choice.randrange(256)
        elif kind < 0.5:
            result[place] ^= 1 << choice.randrange(8)
        else:
            before = int.from_bytes(result[word : word + 4], "little")
            after = choice.choice(NUMBERS) if kind < 0.8 else (before + choice.choice(STEPS)) % 2**32
            result[word : word + 4] = after.to_bytes(4, "little")
    return bytes(result[: len(data)])


def run(data: bytes) -> None:
    import torch
    from op_cases import create_tensor, device

    binary = rt.binary.load_binary_from_bytes(data, allow_native=True)
    chip = device((1, 1))
    inputs = [create_tensor({0: torch.ones(shape)}, (1, 1)) for shape in ((64, 96), (96, 64), (1, 64))]
    rt.runtime.submit(chip, binary, 0, inputs)


def main(path: str, count: int, seed: int) -> None:
    data = Path(path).read_bytes()
    run(data)
    texts = [match.span() for match in re.finditer(rb"#include.*?\x00", data, re.DOTALL)]
    places = [i for i in range(len(data)) if not any(begin <= i < end for begin, end in texts)]
    for number in range(count):
        print(number, flush=True)
        signal.alarm(SECONDS)
        try:
            run(damaged(data, places, random.Random(f"{seed} {number}")))
            print("ran")
        except (rt.Error, RuntimeError) as error:
            print(" ".join(str(error).split()) or "an error without a text")
        signal.alarm(0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
