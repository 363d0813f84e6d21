# SPDX-License-Identifier: Apache-2.0
"""Traces: what they record, write and serve."""

from __future__ import annotations

import csv
import itertools
import json
import re
import socket
import threading
import urllib.error
import urllib.request
import warnings
from pathlib import Path

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import Operand, build_module, compile_and_execute_ttir, compile_ttir_module_to_flatbuffer
from builder.execution.device_tensors import load_binary
from builder.ttir.ttir_builder import TTIRBuilder
from profiler import ProfilerError
from profiler.profiler import trace

runtime = rt.runtime
FILES = ["db.sqlite", "ops.csv", "ops_perf_results.csv", "profile_log_device.csv", "report.html", "trace.json"]


def module(builder: TTIRBuilder):
    @builder.func([(64, 96), (96, 32)], [torch.float32, torch.float32])
    def model(a: Operand, b: Operand, builder: TTIRBuilder):
        a = builder.region_start(a, "layer </script>")
        product = builder.region_end(builder.matmul(a, b), "layer </script>")
        return builder.softmax(builder.annotate(product, "between"), dimension=1)


def rows(folder: str) -> list[dict[str, str]]:
    with Path(folder, "ops.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def page_data(text: str) -> dict:
    return json.loads(re.search(r"^const DATA = (.*);$", text, re.M)[1])


def test_files():
    with trace(log_dir="log") as tracing:
        compile_and_execute_ttir(module)
        compile_and_execute_ttir(module)
    assert tracing.url is None
    assert sorted(p.name for p in Path("log").iterdir()) == FILES
    assert [(run.number, run.error) for run in tracing.runs] == [(0, ""), (1, "")]

    table = rows("log")
    assert [row["run"] for row in table if row["name"] == "ttnn.matmul"] == ["0", "1"]
    matmul = next(row for row in table if row["name"] == "ttnn.matmul")
    line = module.__code__.co_firstlineno + 4
    assert matmul["location"].endswith(f"test_profiler.py:{line}")
    assert (matmul["program"], matmul["source"], matmul["matmul_tiles"]) == ("model", "1", "6")
    assert matmul["outputs"] == "64x32 f32 tile dram interleaved"
    assert matmul["inputs"].startswith("64x96 f32 tile dram interleaved; 96x32 ")
    assert int(matmul["cycles"]) > 0 and int(matmul["host_ns"]) > 0 and int(matmul["dram_bytes"]) > 0
    assert int(matmul["dram_resident"]) == 3 * 4096  # a page of each tensor in the fullest bank
    softmax = next(row for row in table if row["name"] == "ttnn.softmax")
    assert int(matmul["circular_buffers"]) > 0 and int(softmax["circular_buffers"]) > 0
    assert all(row["cycles"] == "0" for row in table if row["name"].startswith("debug."))


def test_the_chrome_trace():
    with trace("log"):
        compile_and_execute_ttir(module)
    events = json.loads(Path("log/trace.json").read_text())["traceEvents"]
    by_name = {name: [e for e in events if e["name"] == name] for name in {e["name"] for e in events}}
    (submit,) = by_name["model"]
    host, chip = sorted(by_name["ttnn.matmul"], key=lambda e: e["pid"])
    assert submit["ts"] <= host["ts"] and host["ts"] + host["dur"] <= submit["ts"] + submit["dur"] + 0.01
    assert chip["ts"] >= submit["ts"] and chip["args"]["cycles"] > 0
    assert [e["ph"] for e in by_name["layer </script>"]] == ["X", "X"]
    assert [e["ph"] for e in by_name["between"]] == ["i", "i"]
    counters = [e["args"]["bytes per bank"] for e in events if e["ph"] == "C" and e["name"].startswith("DRAM")]
    assert max(counters) == 4 * 4096
    ops = sorted((e for e in events if e.get("cat") == "op" and e["pid"] == 2), key=lambda e: e["args"]["index"])
    for first, second in itertools.pairwise(ops):
        assert first["ts"] + first["dur"] <= second["ts"] + 0.01


def test_the_page_needs_nothing_else():
    with trace("log"):
        compile_and_execute_ttir(module)
    page = Path("log/report.html").read_text()
    assert page.count("</script>") == 1, "names cannot end the script"
    assert not re.search(r"(src|href)\s*=|@import|url\((?!#)", page), "no external resources"
    data = page_data(page)
    assert not data["live"]
    assert [p["name"] for p in data["programs"]] == ["model"]
    assert data["programs"][0]["scopes"][0] == {"name": "layer </script>", "begin": 0, "end": 3}
    assert len(data["runs"][0]["host_ns"]) == len(data["programs"][0]["ops"])


def get(url: str) -> tuple[str, str]:
    with urllib.request.urlopen(url, timeout=5) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def test_the_report_is_served_while_the_block_runs():
    with trace("log", 0) as tracing:
        url = tracing.url
        kind, page = get(url)
        assert kind.startswith("text/html") and page_data(page)["runs"] == []
        compile_and_execute_ttir(module)
        data = page_data(get(url)[1])
        assert data["live"] and len(data["runs"]) == 1
        assert "ttnn.matmul" in get(f"{url}ops.csv")[1]
        assert json.loads(get(f"{url}trace.json")[1])["traceEvents"]
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(f"{url}nothing")
    with pytest.raises(urllib.error.URLError):
        get(url)


def test_a_busy_port_is_a_warning():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.warns(RuntimeWarning, match=f"the report is not served: port {port}: .*in use; it will be in log"),
            trace("log", port) as tracing,
        ):
            compile_and_execute_ttir(module)
    assert tracing.url is None
    assert rows("log")


def test_the_runtime_is_as_before():
    submit, recording = runtime.submit, runtime.get_perf_recording()
    with pytest.raises(KeyError), trace("log"):
        assert runtime.submit is not submit
        raise KeyError
    assert runtime.submit is submit
    assert runtime.get_perf_recording() == recording
    assert Path("log/report.html").exists(), "what was recorded before the error is there"


def test_traces_nest():
    with trace("outer") as outer, trace("inner") as inner:
        compile_and_execute_ttir(module)
    assert len(outer.runs) == len(inner.runs) == 1


def test_traces_overlap():
    submit, recording = runtime.submit, runtime.get_perf_recording()
    first, second = trace("first"), trace("second")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    compile_and_execute_ttir(module)
    second.__exit__(None, None, None)
    assert (len(first.runs), len(second.runs)) == (0, 1)
    assert (runtime.submit, runtime.get_perf_recording()) == (submit, recording)


def test_a_failed_submit_is_told():
    binary, _, _ = compile_ttir_module_to_flatbuffer(*build_module(module, "ttir"))
    device = runtime.open_mesh_device()
    try:
        with trace("log") as tracing, pytest.raises(RuntimeError, match="takes 2 inputs"):
            runtime.submit(device, load_binary(binary), 0, [])
    finally:
        runtime.close_mesh_device(device)
    (run,) = tracing.runs
    assert "takes 2 inputs and was given 0" in run.error
    assert rows("log") == []
    assert any(e["name"] == "failed submit" for e in json.loads(Path("log/trace.json").read_text())["traceEvents"])


def test_threads():
    with trace("log") as tracing:
        threads = [threading.Thread(target=compile_and_execute_ttir, args=(module,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(tracing.runs) == 3
    assert all(len(run.host_ns) == len(tracing.runs[0].host_ns) for run in tracing.runs)


def test_nothing_submitted():
    with trace("log"):
        pass
    assert page_data(Path("log/report.html").read_text())["runs"] == []
    assert rows("log") == []


@pytest.mark.parametrize("port", [-1, 65536, "8086"])
def test_a_port_that_is_none(port):
    with pytest.raises(ProfilerError, match=r"port .* is none; expected 0 to 65535"):
        trace("log", port)


def test_directory_that_cannot_be_created():
    Path("file").write_text("")
    with pytest.raises(ProfilerError, match="cannot make file/log"), trace("file/log"):
        pass


def test_no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with trace("log", 0):
            compile_and_execute_ttir(module)
