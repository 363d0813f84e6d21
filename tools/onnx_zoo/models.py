# SPDX-License-Identifier: Apache-2.0
"""Twenty architectures in addition to those of `torch_zoo`, small, with random weights, for what PyTorch's exporter
writes."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

Draw: TypeAlias = Callable[[], Tensor]


@dataclass(frozen=True)
class Architecture:
    """A model of transformers.

    name: of its class. settings: of its configuration; those of parts are (class of the configuration, settings).
    inputs: how they are drawn, by name. lengths: inputs whose dimension 1 may have other sizes, in addition to the
    batch. several: it cannot have one layer.
    """

    name: str
    settings: Mapping[str, Any]
    inputs: Mapping[str, Draw]
    lengths: tuple[str, ...] = ()
    several: bool = False


def words(length: int = 12, size: int = 128) -> Draw:
    return lambda: torch.randint(3, size, (2, length))


def image(size: int = 64) -> Draw:
    return lambda: torch.rand(2, 3, size, size)


def normal(*shape: int) -> Draw:
    return lambda: torch.randn(2, *shape)


def points(count: int, size: int) -> Draw:
    return lambda: torch.rand(2, 1, count, 2) * size


LAYERS: dict[str, Any] = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2}
ENCODER: dict[str, Any] = {**LAYERS, "intermediate_size": 64}
WORDS: dict[str, Any] = {"vocab_size": 128, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
DECODER: dict[str, Any] = {**ENCODER, **WORDS, "num_key_value_heads": 2}
BOTH: dict[str, Any] = {
    f"{part}_{name}": n for part in ("encoder", "decoder")
    for name, n in {"layers": 2, "attention_heads": 4, "ffn_dim": 64}.items()
} | {"d_model": 32}  # fmt: skip
STAGES: dict[str, Any] = {"hidden_sizes": [8, 16, 16, 32], "depths": [1, 1, 1, 1]}
FOUR = [f"stage{i}" for i in range(1, 5)]
# The exporter does not write Attention of the layouts that these have.
EAGER: dict[str, Any] = {"attn_implementation": "eager"}

ARCHITECTURES: dict[str, Architecture] = {
    "T5": Architecture(
        "T5ForConditionalGeneration",
        {**WORDS, **EAGER, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4,
         "decoder_start_token_id": 0},
        {"input_ids": words(), "decoder_input_ids": words(7)}, ("input_ids", "decoder_input_ids"),
    ),
    "Whisper": Architecture(
        "WhisperForConditionalGeneration",
        {**WORDS, **BOTH, "num_mel_bins": 16, "max_source_positions": 20, "max_target_positions": 32,
         "decoder_start_token_id": 1},
        {"input_features": normal(16, 40), "decoder_input_ids": words(7)}, ("decoder_input_ids",),
    ),
    "CLIP": Architecture(
        "CLIPModel",
        {"text_config": {**ENCODER, **WORDS, "max_position_embeddings": 32},
         "vision_config": {**ENCODER, "image_size": 32, "patch_size": 8}, "projection_dim": 16},
        {"input_ids": words(), "pixel_values": image(32)}, ("input_ids",),
    ),
    "SAM": Architecture(
        "SamModel",
        {"vision_config": {**LAYERS, "mlp_dim": 64, "image_size": 64, "patch_size": 8, "output_channels": 16,
                           "global_attn_indexes": [1], "window_size": 3, "num_pos_feats": 8},
         "prompt_encoder_config": {"hidden_size": 16, "image_size": 64, "patch_size": 8, "mask_input_channels": 4},
         "mask_decoder_config": {"hidden_size": 16, "mlp_dim": 32, "num_attention_heads": 2, "num_hidden_layers": 2,
                                 "iou_head_hidden_dim": 16}},
        {"pixel_values": image(), "input_points": points(2, 64)},
    ),
    "Mamba": Architecture(
        "MambaForCausalLM", {**WORDS, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 8},
        {"input_ids": words()},
    ),
    "RWKV": Architecture(
        "RwkvForCausalLM",
        {**WORDS, "hidden_size": 32, "num_hidden_layers": 2, "attention_hidden_size": 32, "intermediate_size": 64},
        {"input_ids": words(5)},  # each word is a step of a loop that is unrolled
        several=True,  # its initialization divides by the number of layers less 1
    ),
    "DeBERTa": Architecture(
        "DebertaV2ForMaskedLM",
        {**ENCODER, "vocab_size": 128, "relative_attention": True, "pos_att_type": ["p2c", "c2p"],
         "position_buckets": 16, "norm_rel_ebd": "layer_norm", "share_att_key": True},
        {"input_ids": words()}, ("input_ids",),
    ),
    "XLNet": Architecture(
        "XLNetLMHeadModel", {"vocab_size": 128, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64},
        {"input_ids": words()}, ("input_ids",),
    ),
    "Perceiver": Architecture(
        "PerceiverForMaskedLM",
        {"num_latents": 8, "d_latents": 16, "d_model": 16, "num_blocks": 1, "num_self_attends_per_block": 2,
         "num_self_attention_heads": 2, "num_cross_attention_heads": 2, "qk_channels": 16, "v_channels": 16,
         "vocab_size": 64, "max_position_embeddings": 12},
        {"input_ids": words(12, 64)},
    ),
    "Qwen3": Architecture("Qwen3ForCausalLM", {**DECODER, "head_dim": 8}, {"input_ids": words()}, ("input_ids",)),
    "Mixtral": Architecture(
        "MixtralForCausalLM",
        {**DECODER, "num_local_experts": 4, "num_experts_per_tok": 2, "experts_implementation": "batched_mm"},
        {"input_ids": words()}, ("input_ids",),
    ),
    "Wav2Vec2": Architecture(
        "Wav2Vec2ForCTC",
        {**ENCODER, "vocab_size": 32, "conv_dim": [16] * 3, "conv_kernel": [10, 3, 3], "conv_stride": [5, 2, 2],
         "num_feat_extract_layers": 3, "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 2,
         "mask_time_prob": 0.0},
        {"input_values": normal(800)},
    ),
    "DETR": Architecture(
        "DetrForObjectDetection",
        {**BOTH, "num_queries": 6, "use_timm_backbone": False, "use_pretrained_backbone": False, "backbone": None,
         "backbone_config": ("ResNetConfig", {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1],
                                              "out_features": ["stage2"]})},
        {"pixel_values": image()},
    ),
    "SegFormer": Architecture(
        "SegformerForSemanticSegmentation",
        {**STAGES, "num_attention_heads": [1, 2, 2, 4], "decoder_hidden_size": 16, "num_labels": 5},
        {"pixel_values": image()},
    ),
    "UPerNet": Architecture(
        "UperNetForSemanticSegmentation",
        {"backbone_config": ("ConvNextConfig", {**STAGES, "out_features": FOUR}), "hidden_size": 16,
         "use_auxiliary_head": False, "num_labels": 5},
        {"pixel_values": image()},
    ),
    "Depth Anything": Architecture(
        "DepthAnythingForDepthEstimation",
        {"backbone_config": ("Dinov2Config", {**LAYERS, "num_hidden_layers": 4, "image_size": 28, "patch_size": 7,
                                              "out_features": FOUR, "reshape_hidden_states": False}),
         "patch_size": 7, "reassemble_hidden_size": 32, "neck_hidden_sizes": [8, 16, 16, 16], "fusion_hidden_size": 16,
         "head_hidden_size": 8},
        {"pixel_values": image(28)},
    ),
    "ConvNeXt": Architecture("ConvNextV2ForImageClassification", STAGES, {"pixel_values": image()}),
    "Swin": Architecture(
        "SwinForImageClassification",
        {**EAGER, "image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4],
         "window_size": 4},
        {"pixel_values": image(32)},
    ),
    "MobileViT": Architecture(
        "MobileViTForImageClassification",
        {"image_size": 64, "patch_size": 2, "hidden_sizes": [16, 24, 32], "num_attention_heads": 4,
         "neck_hidden_sizes": [8, 8, 16, 16, 24, 32, 64]},
        {"pixel_values": image()},
    ),
    "EfficientNet": Architecture(
        "EfficientNetForImageClassification",
        {"image_size": 64, "width_coefficient": 0.25, "depth_coefficient": 0.25, "hidden_dim": 320},
        {"pixel_values": image()},
    ),
}  # fmt: skip


# Settings that are the number of alike layers of a part.
NUMBERS_OF_LAYERS = {"num_hidden_layers", "n_layer", "num_layers", "encoder_layers", "decoder_layers"}


def with_one_layer(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns settings in which parts have a single layer, but for those with layers of several kinds or outputs."""
    several = "global_attn_indexes" in settings or "out_features" in settings
    found: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, dict):
            value = with_one_layer(value)
        elif name in NUMBERS_OF_LAYERS and not several:
            value = 1
        found[name] = value
    return found


def configured(value: Any) -> Any:
    """Returns a setting, a part's configuration made."""
    if not isinstance(value, tuple):
        return value
    name, settings = value
    return getattr(importlib.import_module("transformers"), name)(**settings)


@functools.cache
def architecture(name: str, one_layer: bool = False) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """Returns a model in eval mode, and inputs in the order of the table; always the same.

    Args:
        one_layer: see `with_one_layer`.
    """
    row = ARCHITECTURES[name]
    settings = with_one_layer(row.settings) if one_layer and not row.several else row.settings
    torch.manual_seed(0)
    kind = getattr(importlib.import_module("transformers"), row.name)
    config = kind.config_class(**{key: configured(value) for key, value in settings.items()})
    config.use_cache = False
    model = kind(config).eval()
    for norm in model.modules():
        if isinstance(norm, nn.BatchNorm2d):
            assert norm.running_mean is not None and norm.running_var is not None
            norm.running_mean.normal_(0, 0.1)
            norm.running_var.uniform_(0.5, 1.5)
    return model, tuple(draw() for draw in row.inputs.values())
