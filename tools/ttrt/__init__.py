# SPDX-License-Identifier: Apache-2.0
"""ttrt: look into TTNN flatbuffers and run them on simulated chips. `ttrt --help` says how."""
