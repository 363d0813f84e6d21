# SPDX-License-Identifier: Apache-2.0
"""Graphs whose sizes change: their numbers as expressions of sizes, and programs that leave sizes open."""
