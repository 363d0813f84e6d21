# SPDX-License-Identifier: Apache-2.0
"""tt-smi: what the simulated chips of running processes do; snapshots, telemetry, resets."""
