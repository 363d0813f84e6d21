# SPDX-License-Identifier: Apache-2.0
"""The cost of programs on the simulated chip: `with trace(directory, port): ...` records every submit in the block."""

from .files import chrome_trace, op_table, report_page, write_files
from .meshes import MeshProgram, mesh_page, mesh_program, mesh_programs
from .profiler import Trace, trace
from .recorder import Recorder
from .records import Exchange, OpRecord, ProfilerError, ProgramInfo, Run

__all__ = [
    "Exchange",
    "MeshProgram",
    "OpRecord",
    "ProfilerError",
    "ProgramInfo",
    "Recorder",
    "Run",
    "Trace",
    "chrome_trace",
    "mesh_page",
    "mesh_program",
    "mesh_programs",
    "op_table",
    "report_page",
    "trace",
    "write_files",
]
