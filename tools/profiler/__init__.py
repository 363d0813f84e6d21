# SPDX-License-Identifier: Apache-2.0
"""What programs take on the simulated chip: `with trace(directory, port): ...` records every submit in the block."""

from .files import chrome_trace, op_table, report_page, write_files
from .profiler import Trace, trace
from .recorder import OpRecord, ProfilerError, ProgramInfo, Recorder, Run

__all__ = [
    "OpRecord",
    "ProfilerError",
    "ProgramInfo",
    "Recorder",
    "Run",
    "Trace",
    "chrome_trace",
    "op_table",
    "report_page",
    "trace",
    "write_files",
]
