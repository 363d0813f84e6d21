# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/pipelines.md, "Passes and pipelines by name": every name of the ecosystem, as the tool has it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FACTS = ROOT.parent / "shared" / "facts" / "passes.json"
# Passes and pipelines: what `--help` of the ecosystem's tool lists.
TEXT = """
    analyze-mesh annotate-local-shapes apply-argument-shard-status arith-to-d2m-tile-ops auto-sharding
    capture-mesh-shape collapse-parallel-loops const-eval-hoist-transform convert-d2m-to-ttkernel
    convert-d2m-to-ttmetal convert-d2m-to-ttnn convert-sfpi-to-emitc convert-tosa-to-ttir convert-ttir-cpu-to-emitpy
    convert-ttir-to-linalg convert-ttir-to-nvvm convert-ttir-to-ttnn convert-ttkernel-to-emitc convert-ttnn-to-emitc
    convert-ttnn-to-emitpy convert-ttnn-to-ttir convert-xla-sdy-to-sdy cpu-hoist-const-eval
    cpu-hoist-manually-tagged cpu-hoist-non-lowerable-shlo-ops d2m-allocate d2m-assign-threads d2m-be-pipeline
    d2m-build-topk-chain d2m-decompose-arange d2m-decompose-masking d2m-decompose-topk d2m-emitc-pipeline
    d2m-expand-dma-read-composite-view d2m-fe-pipeline d2m-generate-outer-loops d2m-generic-apply-interchange
    d2m-generic-fusion d2m-generic-linearize-memref d2m-generic-lower-to-explicit-form d2m-generic-regions-to-funcs
    d2m-generic-replace-globals d2m-generic-tile-compute-loops d2m-grid-selection d2m-hoist-cb-allocs
    d2m-insert-compute-cb d2m-insert-dst-register-access-scheduled d2m-insert-dst-register-access-unscheduled
    d2m-insert-scratch-buffers d2m-insert-spill-and-scratch d2m-insert-tile-matmul-block d2m-linalg-to-affine
    d2m-lower-dma-to-fully-indexed-form d2m-lower-load-store-ops-to-dma d2m-lower-multicast-loads
    d2m-lower-scratch-allocate d2m-lower-to-layout d2m-mark-synchronized-buffers d2m-materialize-view-returns
    d2m-normalize-thread-args d2m-op-scheduler d2m-optimize-dma d2m-optimize-masks d2m-preallocate-mcast-semaphores
    d2m-python-rewrites d2m-reblock-generics d2m-scalarize-const-tensors d2m-schedule-dma d2m-sfpu-tile-loop-fission
    d2m-split-threads d2m-split-unified-thread d2m-to-ttkernel-pipeline d2m-to-ttkernel-pre-emitc-pipeline
    d2m-to-ttmetal-pipeline d2m-to-ttnn-pipeline decompose-custom-call-tuples decouple-const-fanout
    embed-cuda-target-attributes emit-calling-convention-wrappers emitpy-add-imports emitpy-const-eval-caching
    emitpy-form-expressions emitpy-link-modules emitpy-name-vars extract-gpu-modules flatten-or-convert-composites
    fuse-distributed-custom-calls insert-device-zone-scopes insert-explicit-reshards
    insert-reshards-for-unpropagated-ops linalg-to-llvm-pipeline math-to-d2m-tile-ops
    partially-convert-sdy-to-stablehlo pykernel-compile-pipeline recover-structure-xla-torch-pipeline
    register-custom-sharding-rule register-user-sharding-rule remove-dead-emitc-expressions reoutline-composite
    replicate-non-splittable-values shardy-ccl-canonicalization stablehlo-complex-data-type-conversion
    stablehlo-fusing stablehlo-pipeline stablehlo-to-ttir-pipeline tt-populate-argument-types
    ttcore-mark-functions-as-forward ttcore-one-shot-bufferize ttcore-optimization-barrier-fold
    ttcore-register-device ttcore-unwrap-device-module ttcore-wrap-device-module ttir-bufferization-pipeline
    ttir-consolidate-static-cache-updates ttir-cpu-boolean-narrowing ttir-decompose-complex-permute
    ttir-decompose-complex-reshape ttir-decompose-composites ttir-element-type-normalization ttir-erase-inverse-ops
    ttir-explicate-tms ttir-flatten-sliding-window ttir-fold-constant-reshape-broadcast ttir-fold-full-to-scalar
    ttir-fusing ttir-global-data-format-conversion ttir-implicit-broadcast-fold ttir-infer-kv-cache-argument-types
    ttir-move-reshape-to-constant ttir-multi-device-tensor-annotation ttir-predicate-type-alignment
    ttir-propagate-weight-dtype ttir-quant-data-type-conversion ttir-quant-dequant-conversion
    ttir-reduction-force-keep-dim ttir-to-d2m ttir-to-emitc-pipeline ttir-to-emitpy-pipeline
    ttir-to-ttir-decomposition ttir-to-ttmetal-pipeline ttir-to-ttnn-backend-pipeline ttir-to-ttnn-common-pipeline
    ttir-to-ttnn-runtime-pipeline ttkernel-control-dst-section ttkernel-dedup-inits ttkernel-hoist-inits
    ttnn-adjust-deallocs ttnn-allocate-distributed-op-buffers ttnn-allocate-distributed-op-semaphores
    ttnn-ccl-activation-dtype-lowering ttnn-collaspe-d2m ttnn-collect-perf-metrics ttnn-common-to-emitc-pipeline
    ttnn-common-to-emitpy-pipeline ttnn-common-to-runtime-pipeline ttnn-configure-ccl-ops ttnn-create-d2m-subgraphs
    ttnn-create-input-gens ttnn-deallocate ttnn-decompose-layouts ttnn-decomposition ttnn-deduce-moe-compute-layouts
    ttnn-emitpy-workarounds ttnn-file-split ttnn-force-const-eval-to-system-memory ttnn-force-final-deallocs
    ttnn-fusing ttnn-greedy-l1-spill-management ttnn-greedy-memory-layout-propagation ttnn-kv-cache-dtype-conversion
    ttnn-layout ttnn-load-input-tensors ttnn-lower-tt-lang-to-generic ttnn-memory-management
    ttnn-operation-validation-and-fallback ttnn-prepare-const-eval-caching ttnn-prepare-conv2d-weights-and-bias
    ttnn-prepare-conv3d-weights ttnn-prepare-module-for-export ttnn-recover-structure ttnn-remove-deallocs
    ttnn-resolve-composites ttnn-resolve-tt-lang-kernels ttnn-rm-layout-propagation ttnn-set-compute-kernel-config
    ttnn-simplify-locs-for-codegen ttnn-split-forward-func-args-by-type ttnn-through-d2m-pipeline
    ttnn-trace-hoist-transform ttnn-tuplify-tensors ttnn-unique-locations ttnn-weight-dtype-conversion
    ttnn-workaround update-global-to-local-shapes wrap-under-manual-computation
"""
NAMES = TEXT.split()
# Options of passes on TTCore, TTIR and TTNN.
OPTIONS = {
    "convert-ttnn-to-emitpy": "target-module",
    "tt-populate-argument-types": "argument-types",
    "ttcore-register-device": "mock-system-desc-arch system-desc-path mesh-shape mesh-topology",
    "ttir-erase-inverse-ops": "enable-commute-upwards enable-commute-downwards max-iterations force",
    "ttir-fusing": (
        "ttnn-enable-conv2d-with-multiply-pattern enable-permute-matmul-fusion "
        "enable-permute-slice-after-matmul-fusion "
    ),
    "ttir-global-data-format-conversion": "target-format",
    "ttir-quant-data-type-conversion": "target-bit-width",
    "ttir-to-ttir-decomposition": "config",
    "ttnn-collect-perf-metrics": (
        "ttnn-perf-metrics-output-file ttnn-perf-metrics-verbose-output-enabled ttnn-enable-trace "
    ),
    "ttnn-decomposition": "enable-op-constraints max-fallback-attempts",
    "ttnn-file-split": "target",
    "ttnn-fusing": "enable-op-constraints max-fallback-attempts enable-rope-fusion enable-sdpa-fusion",
    "ttnn-greedy-l1-spill-management": "enable-decision-trace decision-trace-dir use-mock-allocator-state",
    "ttnn-greedy-memory-layout-propagation": (
        "max-legal-layouts row-major-enabled beam-width enable-l1-sharding-layouts "
        "max-input-candidates-per-operand max-reshard-candidates-per-type enable-decision-trace "
        "decision-trace-dir enable-compile-time-stats "
    ),
    "ttnn-kv-cache-dtype-conversion": "target-dtype",
    "ttnn-load-input-tensors": "tensor-load-directory tensor-load-file-prefix",
    "ttnn-memory-management": "aggressive-memory-saving",
    "ttnn-operation-validation-and-fallback": "max-fallback-attempts",
    "ttnn-resolve-composites": "composite-resolution",
    "ttnn-resolve-tt-lang-kernels": "mesh-shape python-module python-function",
    "ttnn-set-compute-kernel-config": (
        "math-fidelity math-approx-mode fp32-dest-acc-en packer-l1-acc dst-full-sync-en "
    ),
    "ttnn-tuplify-tensors": "tuplify-input-if-empty",
    "ttnn-weight-dtype-conversion": "target-dtype",
    "ttnn-workaround": (
        "ttnn-enable-layout-workaround-pass ttnn-enable-decomposition-workaround-pass ttnn-optimization-level "
    ),
}
# What the tables say that a pass lacks.
ABSENT_OPTIONS = {
    "ttnn-fusing": {"enable-op-constraints", "enable-sdpa-fusion", "max-fallback-attempts"},
}


@pytest.mark.skipif(not FACTS.exists(), reason=f"{FACTS} is not there")
def test_the_lists_above_are_the_ecosystems() -> None:
    facts = json.loads(FACTS.read_text())
    rows = {row["argument"]: row for row in facts["passes"] + facts["pipelines"] if ":" not in row["argument"]}
    assert sorted(NAMES) == sorted(rows)
    # Those of StableHLO's passes, and of pipelines, are looked at where they are.
    own = "ttir-(?!to-d2m)|ttnn-|ttcore-|tt-populate|convert-ttnn"
    expected = {
        name: {option["name"] for option in row["options"]}
        for name, row in rows.items()
        if row["kind"] == "pass" and row["options"] and re.match(own, name)
    }
    assert {name: set(options.split()) for name, options in OPTIONS.items()} == expected


@pytest.fixture(scope="module")
def tool() -> dict[str, set[str]]:
    """The options of each pass and pipeline that the tool knows."""
    text = subprocess.run(
        [ROOT / "build" / "bin" / "ttmlir-opt", "--help"], capture_output=True, text=True, check=True
    ).stdout
    known: dict[str, set[str]] = {}
    options: set[str] = set()
    for line in text.splitlines():
        if found := re.match(r" {6}--([\w-]+)", line):
            options = known.setdefault(found[1], set())
        elif found := re.match(r" {8}--([\w-]+)", line):
            options.add(found[1])
    return known


@pytest.fixture(scope="module")
def page() -> dict[str, list[str]]:
    """Names of each table: available, without effect, not available."""
    text = (ROOT / "docs" / "pipelines.md").read_text().partition("\n## Passes and pipelines by name\n")[2]
    parts = re.split(r"^(Available:|Accepted|Not available:|Options)", text.partition("\n## ")[0], flags=re.M)
    tables = dict(zip(parts[1::2], parts[2::2], strict=True))
    found = {}
    for title, table in tables.items():
        rows = re.findall(r"^\| (.*) \|$", table, flags=re.M)
        # The names stand in the last column of the first table, and in the first of the others.
        cells = [row.split(" | ")[1 if title == "Available:" else 0] for row in rows]
        found[title] = [name for cell in cells for name in re.findall(r"`([\w-]+)`", cell)]
    return found


def test_every_name_stands_once(page):
    titles = ("Available:", "Accepted", "Not available:")
    assert sorted(name for title in titles for name in page[title]) == sorted(NAMES)


def test_the_tool_knows_what_is_there(page, tool):
    there = page["Available:"] + page["Accepted"]
    assert [name for name in there if name not in tool] == []
    assert [name for name in page["Not available:"] if name in tool] == []


def test_options(page, tool):
    there = {name: set(options.split()) for name, options in OPTIONS.items() if name in tool}
    missing = {name: options - tool[name] for name, options in there.items() if options - tool[name]}
    assert missing == ABSENT_OPTIONS
    assert sorted(page["Options"]) == sorted(missing)


def test_passes_without_work_say_so(page):
    """Their summaries begin with it."""
    text = subprocess.run(
        [ROOT / "build" / "bin" / "ttmlir-opt", "--help"], capture_output=True, text=True, check=True
    ).stdout
    said = re.findall(r"^ {6}--([\w-]+).*-   Nothing to do: ", text, flags=re.M)
    assert sorted(said) == sorted(page["Accepted"])
