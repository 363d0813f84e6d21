# SPDX-License-Identifier: Apache-2.0
"""Pipelines of the package `transformers` whose models run on a Tenstorrent device."""

from .pipeline import NLPPipelineWrapper, pipeline

__all__ = ["NLPPipelineWrapper", "pipeline"]
