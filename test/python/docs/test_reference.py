# SPDX-License-Identifier: Apache-2.0
"""The reference pages: every op has a summary, a description and an example that parses; every pass a description."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from ttmlir import ir

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[3]
# Ops of no family, whose summary is all that is said.
NO_DESCRIPTION = frozenset(
    [
        "ttir.alloc",
        "ttir.arange",
        "ttir.dealloc",
        "ttir.dropout",
        "ttir.empty",
        "ttir.rand",
        "ttir.slice_dynamic",
        "ttir.to_layout",
        "ttir.tt_lang_op",
        "ttir.ttnn_metal_layout_cast",
        "ttnn.aggregate_tensor",
        "ttnn.alloc",
        "ttnn.batch_norm_training",
        "ttnn.copy",
        "ttnn.create_global_semaphore",
        "ttnn.d2m_subgraph",
        "ttnn.deallocate",
        "ttnn.distribute_tensor",
        "ttnn.dropout",
        "ttnn.dump_tensor",
        "ttnn.empty",
        "ttnn.execute_trace",
        "ttnn.generic",
        "ttnn.get_device",
        "ttnn.load_tensor",
        "ttnn.rand",
        "ttnn.reset_global_semaphore",
        "ttnn.slice_dynamic",
        "ttnn.tt_lang_op",
        "ttnn.write_tensor",
        "d2m.dst_reinterpret_cast",
        "emitpy.global",
        "emitpy.list",
        "emitpy.literal",
        "emitpy.unpack",
        "emitpy.verbatim",
        "ttcore.cpu_module",
        "ttcore.device",
        "ttcore.device_module",
        "ttcore.get_global",
        "ttcore.get_key_value",
        "ttcore.get_tuple_element",
        "ttcore.global",
        "ttcore.load_cached",
        "ttcore.optimization_barrier",
        "ttcore.set_key_value",
        "ttcore.tuple",
    ]
)
# Dialects of which the tests have programs for every op; others show what their tests have.
WITH_EXAMPLES = ("ttir", "ttnn", "stablehlo", "debug", "ttmetal")
# Ops of these that no test holds alone and below the length of an example.
NO_EXAMPLE = frozenset(
    [
        "ttir.alloc",
        "ttir.dealloc",
        "ttir.ttnn_metal_layout_cast",
        "ttnn.alloc",
        "ttnn.capture_or_execute_trace",
        "ttnn.create_global_semaphore",
        "ttnn.prepare_conv2d_bias",
        "ttnn.prepare_conv2d_weights",
        "ttnn.prepare_conv_transpose2d_bias",
        "ttnn.prepare_conv_transpose2d_weights",
        "ttnn.reset_global_semaphore",
        "ttnn.rotary_embedding_llama",
        "ttnn.to_tensor_spec",
    ]
)


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts" / "reference.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages(reference: ModuleType) -> dict[str, str]:
    return reference.pages()


def ops(page: str) -> dict[str, str]:
    """Text of each op."""
    parts = re.split(r"^### `([\w.]+)` \(.*\n", page.partition("\n## Operations\n")[2], flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_there_is_a_page_for_each_dialect(pages, reference):
    for dialect in reference.DIALECTS:
        assert ops(pages[f"ops/{dialect.lower()}.md"]), dialect
        assert f"ops/{dialect.lower()}.md" in pages["index.md"]


def test_summaries_and_descriptions(pages):
    missing = []
    for page, text in pages.items():
        for name, said in ops(text).items() if page.startswith("ops/") else ():
            said = re.sub(r"^Syntax:\n\n```\n.*?^```\n\n", "", said, flags=re.M | re.S)
            summary = re.match(r"\n_(.+)_\n\n(.*)", said)
            assert summary, f"{name} has no summary"
            if not summary[2] or re.match(r"Traits|Interfaces|Effects|####", summary[2]):
                missing.append(name)
    assert set(missing) == NO_DESCRIPTION


def test_examples(pages):
    """Parses the printed examples; only the ops above have none."""
    missing, context = set(), ir.Context()
    for page, text in pages.items():
        for name, said in ops(text).items() if page.startswith("ops/") else ():
            example = re.search(r"^#### Example:\n\n```mlir\n(.*?)^```", said, re.M | re.S)
            if example is None:
                missing |= {name} if name.startswith(tuple(f"{d}." for d in WITH_EXAMPLES)) else set()
                continue
            assert name in example[1]
            ir.Module.parse(example[1], context)
    assert missing == NO_EXAMPLE


def test_passes(pages):
    """Each has a summary and, below it, a description."""
    parts = re.split(r"^### `-([\w-]+)`\n", pages["passes.md"], flags=re.M)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert len(found) > 30
    wrong = [name for name, said in found.items() if not re.match(r"\n_.+_\n\n(?!####)\S", said)]
    assert wrong == []
