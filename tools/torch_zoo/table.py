# SPDX-License-Identifier: Apache-2.0
"""The nineteen models: what `transformers` calls them, their published settings, and what they are given.

Configurations are those of the model cards named in `card`; settings that equal the defaults of `transformers` are left
out. No weights are downloaded: they are random, from a fixed seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MNIST = "MNIST"


@dataclass(frozen=True)
class Row:
    """A model.

    architecture: a class of transformers, or MNIST.
    card: the name on the hub whose configuration this is.
    settings: of that configuration. small: settings in their place for tests.
    tokens: [batch, length] of token ids; image: [batch, channels, height, width]; one of the two.
    small_image: the same for tests.
    layers: (name of the setting, layers published, layers here) where 24 GB do not hold all layers.
    train: in training mode (dropout draws).
    generates: a language model with `generate`.
    """

    architecture: str
    card: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    small: Mapping[str, Any] = field(default_factory=dict)
    tokens: tuple[int, int] | None = None
    image: tuple[int, int, int, int] | None = None
    small_image: tuple[int, int, int, int] | None = None
    layers: tuple[str, int, int] | None = None
    train: bool = False
    generates: bool = False

    @property
    def note(self) -> str:
        """Returns what differs from the published model, for tables."""
        if self.layers is None:
            return ""
        _, published, here = self.layers
        return f"{here} of {published} layers"


ENCODER: dict[str, Any] = {
    "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 128
}  # fmt: skip
WORDS: dict[str, Any] = {"vocab_size": 512}
NO_ENDS: dict[str, Any] = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
VISION: dict[str, Any] = {**ENCODER, "image_size": 32, "patch_size": 8}
TEXT = (1, 128)
PHOTO = (1, 3, 224, 224)
THUMBNAIL = (2, 3, 32, 32)


def albert(card: str, architecture: str = "AlbertForMaskedLM", **settings: Any) -> Row:
    """Returns the row of ALBERT v2: one layer's weights for all layers, no dropout."""
    common = {
        "embedding_size": 128, "vocab_size": 30000, "hidden_act": "gelu_new", "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }  # fmt: skip
    return Row(architecture, card, {**common, **settings}, {**ENCODER, **WORDS, "embedding_size": 32}, tokens=TEXT)


def beit(card: str, **settings: Any) -> Row:
    common = {
        "use_relative_position_bias": True, "use_absolute_position_embeddings": False, "use_mean_pooling": True,
        "num_labels": 1000, "drop_path_rate": 0.1,
    }  # fmt: skip
    return Row("BeitForImageClassification", card, {**common, **settings}, VISION, image=PHOTO, small_image=THUMBNAIL)


ALBERT_BASE: dict[str, Any] = {
    "hidden_size": 768,
    "num_attention_heads": 12,
    "num_hidden_layers": 12,
    "intermediate_size": 3072,
}

MODELS: dict[str, Row] = {
    "BERT": Row(
        "BertForQuestionAnswering",
        "phiyodr/bert-large-finetuned-squad2",
        {"hidden_size": 1024, "num_attention_heads": 16, "num_hidden_layers": 24, "intermediate_size": 4096},
        {**ENCODER, **WORDS},
        tokens=(1, 256),
    ),
    "Bloom": Row(
        "BloomForCausalLM",
        "bigscience/bloom-1b1",
        {"hidden_size": 1536, "n_layer": 24, "n_head": 16, "vocab_size": 250880},
        {"hidden_size": 64, "n_layer": 2, "n_head": 4, **WORDS, **NO_ENDS},
        tokens=TEXT,
        generates=True,
    ),
    "Falcon": Row(
        "FalconForCausalLM",
        "tiiuae/falcon-7b-instruct",
        {"hidden_size": 4544, "num_attention_heads": 71, "num_hidden_layers": 32, "vocab_size": 65024},
        {"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, **WORDS, **NO_ENDS},
        tokens=TEXT,
        layers=("num_hidden_layers", 32, 4),
        generates=True,
    ),
    "GPT-2": Row(
        "GPT2LMHeadModel",
        "openai-community/gpt2",
        {},
        {"n_layer": 2, "n_embd": 64, "n_head": 4, **WORDS, **NO_ENDS},
        tokens=TEXT,
        generates=True,
    ),
    "Llama": Row(
        "LlamaForCausalLM",
        "huggyllama/llama-7b",
        {"max_position_embeddings": 2048, "rms_norm_eps": 1e-6},
        {**ENCODER, **WORDS, **NO_ENDS, "num_key_value_heads": 2},
        tokens=TEXT,
        layers=("num_hidden_layers", 32, 4),
        generates=True,
    ),
    "Mnist (Eval)": Row(MNIST, "pytorch/examples mnist", image=(1, 1, 28, 28), small_image=(2, 1, 28, 28)),
    "Mnist (Train)": Row(
        MNIST, "pytorch/examples mnist", image=(1, 1, 28, 28), small_image=(2, 1, 28, 28), train=True
    ),
    "MobileNetV2": Row(
        "MobileNetV2ForImageClassification",
        "google/mobilenet_v2_1.0_224",
        {"num_labels": 1001},
        {"image_size": 64, "depth_multiplier": 0.25, "num_labels": 100},
        image=PHOTO,
        small_image=(2, 3, 64, 64),  # the last layers see 2 x 2 pixels
    ),
    "ResNet18": Row(
        "ResNetForImageClassification",
        "microsoft/resnet-18",
        {"embedding_size": 64, "hidden_sizes": [64, 128, 256, 512], "depths": [2, 2, 2, 2], "layer_type": "basic",
         "num_labels": 1000},
        {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1]},
        image=PHOTO,
        small_image=THUMBNAIL,
    ),
    "YOLOS": Row(
        "YolosForObjectDetection",
        "hustvl/yolos-tiny",
        {"hidden_size": 192, "num_attention_heads": 3, "num_hidden_layers": 12, "intermediate_size": 768,
         "image_size": [800, 1333], "num_detection_tokens": 100, "use_mid_position_embeddings": False,
         "num_labels": 91},
        {**VISION, "image_size": [32, 48], "num_detection_tokens": 5},
        image=(1, 3, 512, 672),
        small_image=(2, 3, 40, 56),  # positions are resampled
    ),
    "albert/albert-base-v2": albert("albert/albert-base-v2", **ALBERT_BASE),
    "albert/albert-large-v2": albert(
        "albert/albert-large-v2",
        hidden_size=1024, num_attention_heads=16, num_hidden_layers=24, intermediate_size=4096,
    ),
    "albert/albert-xlarge-v2": albert(
        "albert/albert-xlarge-v2",
        hidden_size=2048, num_attention_heads=16, num_hidden_layers=24, intermediate_size=8192,
    ),
    "albert/albert-xxlarge-v2": albert(
        "albert/albert-xxlarge-v2",
        hidden_size=4096, num_attention_heads=64, num_hidden_layers=12, intermediate_size=16384,
    ),
    "distilbert-base-uncased": Row(
        "DistilBertForMaskedLM",
        "distilbert-base-uncased",
        {},
        {"n_layers": 2, "dim": 64, "n_heads": 4, "hidden_dim": 128, **WORDS},
        tokens=TEXT,
    ),
    "facebook/deit-base-patch16-224": Row(
        "DeiTForImageClassification",
        "facebook/deit-base-patch16-224",
        {"num_labels": 1000},
        VISION,
        image=PHOTO,
        small_image=THUMBNAIL,
    ),
    "microsoft/beit-base-patch16-224": beit("microsoft/beit-base-patch16-224"),
    "microsoft/beit-large-patch16-224": beit(
        "microsoft/beit-large-patch16-224",
        hidden_size=1024, num_attention_heads=16, num_hidden_layers=24, intermediate_size=4096,
        layer_scale_init_value=1e-5,
    ),
    "textattack/albert-base-v2-imdb": albert(
        "textattack/albert-base-v2-imdb", "AlbertForSequenceClassification", **ALBERT_BASE, num_labels=2
    ),
}  # fmt: skip
