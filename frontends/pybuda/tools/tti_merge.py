# SPDX-License-Identifier: Apache-2.0
"""Several device images in one: `python -m pybuda.tools.tti_merge`, and `merge_models`."""

from __future__ import annotations

import argparse
import io
import json
import math
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from ttmlir.files import write_whole

from pybuda.enums import BackendDevice
from pybuda.errors import PyBudaError
from pybuda.tenstorrent.chip import MEMORY
from pybuda.tenstorrent.image import CONFIG, MODELS, ImageError, TTDeviceImage, dtype_of

MEGABYTE = 1 << 20


MEMORIES = {device.name.lower(): device for device in MEMORY}


class Channels:
    """The contents of one memory's channels: parameters of each model, and queues that models can share."""

    def __init__(self, count: int, capacity: int, what: str, switch: bool, overlap: bool) -> None:
        self.kept, self.shared = [0] * count, [0] * count
        self.capacity, self.what, self.switch, self.overlap = capacity, what, switch, overlap
        self._next = 0

    def used(self, channel: int) -> int:
        return self.kept[channel] + self.shared[channel]

    def keep(self, name: str, size: int) -> None:
        """Keeps memory for a parameter, in the next channel; in another one when that is full and `switch` is on.

        Raises:
            PyBudaError: there is none; says how much was requested and how much is free.
        """
        order = [(self._next + i) % len(self.kept) for i in range(len(self.kept) if self.switch else 1)]
        self._next = (self._next + 1) % len(self.kept)
        for channel in order:
            if self.used(channel) + size <= self.capacity:
                self.kept[channel] += size
                return
        free = max(self.capacity - self.used(channel) for channel in order)
        more = "" if self.switch else "; channels can be switched (without --skip_channel_reallocation)"
        raise PyBudaError(f"{name} needs {size} bytes of {self.what}; a channel has {free} left{more}")

    def queues(self, name: str, sizes: Sequence[int]) -> None:
        """Keeps memory for the queues of one model. Models run one after another: they share it when `overlap` is
        on."""
        expected = [0] * len(self.kept)
        for i, size in enumerate(sizes):
            expected[i % len(expected)] += size
        for channel, size in enumerate(expected):
            self.shared[channel] = max(self.shared[channel], size) if self.overlap else self.shared[channel] + size
            if self.used(channel) > self.capacity:
                raise PyBudaError(
                    f"the queues of {name} need {size} bytes of {self.what} channel {channel}; "
                    f"it has {self.capacity} and {self.used(channel)} would be used"
                )

    def report(self) -> str:
        lines = [f"{channel} : {round(self.used(channel) / MEGABYTE, 2)}" for channel in range(len(self.kept))]
        return f"Displaying memory footprint per {self.what} channel (MB):\n" + "\n".join(lines)


def size_of(shape: Sequence[int], dtype: str) -> int:
    """Returns bytes of a tensor in tiles of 32 x 32."""
    padded = [1, 1, *shape]
    padded[-2:] = [-(-n // 32) * 32 for n in padded[-2:]]
    return math.prod(padded) * dtype_of(dtype).itemsize


def merge_models(
    model_bin_location: str,
    models: Sequence[str],
    arch: str = "wormhole_b0",
    merged_model_location: str = "",
    switch_chans_if_capacity_hit: bool = True,
    overlap_dynamic_queues: bool = True,
) -> None:
    """Merges images into one file, and prints the memory that they use together.

    Args:
        model_bin_location: the folder of the images. models: their names, without ".tti".
        merged_model_location: the file; "merged_model.tti" by default.
        switch_chans_if_capacity_hit: parameters go to another channel when theirs is full.
        overlap_dynamic_queues: models share the memory of inputs and outputs.
    Raises:
        PyBudaError: an arch that is not known, a model twice, or more memory than there is.
        ImageError: a model's file that is no image, or an image for another architecture.
    """
    if arch not in MEMORIES:
        raise PyBudaError(f"arch is {arch!r}; expected one of {', '.join(MEMORIES)}")
    if not models or len(set(models)) != len(models):
        raise PyBudaError(f"models is {list(models)}; expected names, each once")
    device = MEMORIES[arch]
    memory = MEMORY[device]
    options = switch_chans_if_capacity_hit, overlap_dynamic_queues
    dram = Channels(memory.channels, memory.channel_bytes, "DRAM", *options)
    host = Channels(memory.host_channels, memory.host_bytes, "Host", *options)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as merged:
        merged.writestr(MODELS, json.dumps({"arch": arch, "models": list(models)}))
        for name in models:
            path = Path(model_bin_location) / f"{name}.tti"
            image = TTDeviceImage.load_from_disk(path)
            about = image.description
            if about.arch != device.name:
                raise ImageError(
                    f"{path}: compiled for {BackendDevice[about.arch]}; the models are merged for {device}"
                )
            config = json.loads(image.members.get(CONFIG, b"{}"))
            for key, shape, dtype, _ in about.parameters:
                dram.keep(f"parameter {key} of {name}", size_of(shape, dtype))
            for tensors, option in ((about.inputs, "input_queues_on_host"), (about.outputs, "output_queues_on_host")):
                (host if config.get(option, True) else dram).queues(name, [size_of(*entry) for entry in tensors])
            with zipfile.ZipFile(path) as archive:
                for member in archive.namelist():
                    merged.writestr(f"{name}/{member}", archive.read(member))
    write_whole(Path(merged_model_location or "merged_model.tti"), stream.getvalue())
    print(dram.report())
    print(host.report())


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tti_merge.py", description="Merges device images into one file.")
    parser.add_argument("-mbl", "--model_binaries_location", required=True, help="folder of the images")
    parser.add_argument("-mdl", "--models", nargs="+", required=True, help="names of the images, without .tti")
    parser.add_argument("-a", "--arch", default="wormhole_b0", help="architecture (wormhole_b0)")
    parser.add_argument("-mml", "--merged_model_location", default="merged_model.tti", help="file that is written")
    parser.add_argument(
        "-scr",
        "--skip_channel_reallocation",
        action="store_true",
        help="parameters stay in their channel when it is full",
    )
    parser.add_argument("-dqo", "--dynamic_queue_overlap_off", action="store_true", help="models share no queues")
    given = parser.parse_args(arguments)
    try:
        merge_models(
            given.model_binaries_location, given.models, given.arch, given.merged_model_location,
            not given.skip_channel_reallocation, not given.dynamic_queue_overlap_off,
        )  # fmt: skip
    except (PyBudaError, OSError) as error:
        print(f"tti_merge: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
