# SPDX-License-Identifier: Apache-2.0
"""Rows of attention, heads, positions and caches (see op_rows.py)."""

from __future__ import annotations

from op_rows import case, named, row

ATTENTION = {
    "scaled_dot_product_attention": row(
        case((1, 4, 64, 32), (1, 4, 64, 32), (1, 4, 64, 32), is_causal=True),
        case((2, 4, 33, 16), (2, 2, 33, 16), (2, 2, 33, 16), is_causal=False),
        case((1, 2, 7, 16), (1, 2, 9, 16), (1, 2, 9, 16), (1, 1, 7, 9), is_causal=False, scale=0.5),
        # Positions count from the start, also where there are fewer, or more, queries than keys.
        case((1, 1, 2, 32), (1, 1, 4, 32), (1, 1, 4, 32), is_causal=True),
        case((1, 2, 33, 16), (1, 1, 70, 16), (1, 1, 70, 16), is_causal=True),
        case((2, 2, 40, 8), (2, 2, 24, 8), (2, 2, 24, 8)),
        # Windows: before a position where causal, else on both sides of it.
        case((1, 2, 9, 16), (1, 2, 9, 16), (1, 2, 9, 16), is_causal=True, sliding_window_size=3),
        case((1, 2, 40, 16), (1, 2, 64, 16), (1, 2, 64, 16), is_causal=True, sliding_window_size=5),
        case((1, 2, 9, 16), (1, 2, 9, 16), (1, 2, 9, 16), is_causal=False, sliding_window_size=3),
        case((2, 4, 40, 16), (2, 2, 64, 16), (2, 2, 64, 16), is_causal=False, sliding_window_size=8),
        case((1, 2, 1, 16), (1, 2, 40, 16), (1, 2, 40, 16), is_causal=False, sliding_window_size=6),
        case((1, 2, 1, 16), (1, 2, 40, 16), (1, 2, 40, 16), is_causal=True, sliding_window_size=6),
        case((1, 2, 20, 16), (1, 2, 20, 16), (1, 2, 20, 16), (1, 2, 20, 20), is_causal=False, sliding_window_size=7),
        named(
            {"is_causal": True, "sliding_window_size": 4},
            query=(1, 3, 18, 16),
            key=(1, 1, 18, 16),
            value=(1, 1, 18, 16),
            attention_sink=(1, 3, 1, 1),
        ),
        # No keys: zeros.
        case((1, 2, 5, 16), (1, 2, 0, 16), (1, 2, 0, 16), is_causal=False),
        case((1, 2, 40, 16), (1, 2, 0, 16), (1, 2, 0, 16), is_causal=True),
        case((1, 2, 5, 16), (1, 2, 0, 16), (1, 2, 0, 16), is_causal=False, sliding_window_size=3),
        wrong=[
            (case((1, 4, 8, 16), (1, 4, 8, 8), (1, 4, 8, 8)), "head sizes 16 of 'query' and 8 of 'key' differ"),
            (
                case((1, 4, 8, 16), (1, 4, 8, 16), (1, 4, 8, 16), sliding_window_size=0),
                "attribute 'sliding_window_size' is 0; expected a positive number",
            ),
            (case((4, 4), (4, 4), (4, 4)), "operand 'query' is 'tensor<4x4xf32>'; expected rank 4"),
        ],
    ),
    "fill_cache": row(
        case((2, 4, 64, 32), (1, 4, 33, 32), batch_offset=1),
        wrong=[
            (
                case((2, 4, 64, 32), (1, 4, 65, 32), batch_offset=0),
                "operand 'input' has 65 positions; expected at most 64",
            )
        ],
    ),
    "update_cache": row(
        case((2, 4, 64, 32), (1, 4, 2, 32), (1,), batch_offset=0),
        wrong=[
            (
                case((2, 4, 64, 32), (1, 4, 2, 16), (1,), batch_offset=0),
                "head sizes 32 of 'cache' and 16 of 'input' differ",
            )
        ],
        fixed={2: "i32"},
    ),
    "scaled_dot_product_attention_decode": row(
        case((1, 3, 4, 16), (3, 2, 33, 16), (3, 2, 33, 16), (3,), is_causal=True),
        case((1, 2, 4, 16), (2, 4, 64, 16), (2, 4, 64, 16), (2,), (2, 1, 4, 64), is_causal=False, scale=0.5),
        # A mask is added to the scores before they are scaled.
        case((1, 2, 4, 64), (2, 4, 33, 64), (2, 4, 33, 64), (2,), (2, 1, 4, 33), is_causal=False),
        case((1, 2, 4, 16), (2, 2, 33, 16), (2, 2, 33, 16), (2,), (2, 1, 4, 33), is_causal=True, scale=3.0),
        # So is a sink.
        *(
            named(
                {"is_causal": True, "scale": scale},
                query=(1, 2, 4, 16),
                key=(2, 2, 33, 16),
                value=(2, 2, 33, 16),
                cur_pos_tensor=(2,),
                attention_sink=(1, 4, 1, 1),
            )
            for scale in (0.125, 3.0)
        ),
        wrong=[
            (
                case((1, 3, 4, 16), (3, 2, 33, 16), (3, 2, 33, 16), (3,), is_causal="no"),
                "is_causal = 'no' .*expected True or False",
            )
        ],
        fixed={3: "i32", "cur_pos_tensor": "i32"},
    ),
    "paged_scaled_dot_product_attention_decode": row(
        named(
            query=(1, 2, 4, 16),
            key=(8, 2, 32, 16),
            value=(8, 2, 32, 16),
            page_table=(2, 3),
            output=(1, 2, 4, 16),
            cur_pos_tensor=(2,),
        ),
        named(
            {"is_causal": False, "scale": 0.5},
            query=(1, 3, 2, 8),
            key=(5, 2, 32, 8),
            value=(5, 2, 32, 8),
            page_table=(3, 2),
            output=(1, 3, 2, 8),
            attention_mask=(3, 1, 2, 64),
        ),
        # A window ends at the position, else at the last one.
        named(
            {"sliding_window_size": 5},
            query=(1, 2, 4, 16),
            key=(8, 2, 32, 16),
            value=(8, 2, 32, 16),
            page_table=(2, 3),
            output=(1, 2, 4, 16),
            cur_pos_tensor=(2,),
        ),
        named(
            {"is_causal": False, "sliding_window_size": 40},
            query=(1, 2, 4, 16),
            key=(8, 2, 32, 16),
            value=(8, 2, 32, 16),
            page_table=(2, 3),
            output=(1, 2, 4, 16),
        ),
        wrong=[
            (named(query=(1, 2, 4, 16), key=(8, 2, 32, 16), value=(8, 2, 32, 16)), "no value for page_table, output"),
        ],
        fixed={"page_table": "i32", "cur_pos_tensor": "i32"},
    ),
    "chunked_scaled_dot_product_attention": row(
        case((1, 4, 32, 16), (8, 2, 32, 16), (8, 2, 32, 16), (1, 4), (1,), (1, 4, 32, 16), scale=0.5),
        wrong=[(case((1, 4, 32, 16), (8, 2, 32, 16), (8, 2, 32, 16), (1, 4)), "no value for .*idx")],
        fixed={3: "i32", 4: "i32"},
    ),
    "paged_flash_multi_latent_attention_decode": row(
        named(
            {"head_dim_v": 16},
            query=(1, 2, 4, 24),
            key=(6, 1, 32, 24),
            value=None,
            page_table=(2, 3),
            cur_pos_tensor=(2,),
        ),
        named(
            {"head_dim_v": 8, "is_causal": False, "scale": 0.5},
            query=(1, 3, 2, 8),
            key=(5, 2, 32, 8),
            value=(5, 2, 32, 8),
            page_table=(3, 2),
            attention_mask=(3, 1, 2, 64),
        ),
        fixed={"page_table": "i32", "cur_pos_tensor": "i32"},
        wrong=[
            (
                named({"head_dim_v": 25}, query=(1, 2, 4, 24), key=(6, 1, 32, 24), value=None, page_table=(2, 3)),
                "head_dim_v",
            )
        ],
    ),
    "paged_update_cache": row(
        named(cache=(8, 4, 32, 16), input=(1, 3, 4, 16), update_index=(3,), page_table=(3, 2)),
        named(cache=(3, 4, 33, 16), input=(1, 3, 4, 16), update_index=(3,)),
        named({"share_cache": True}, cache=(1, 4, 33, 16), input=(1, 3, 4, 16), update_index=(3,)),
        wrong=[
            (
                named(cache=(8, 4, 32, 16), input=(1, 3, 4, 8), update_index=(3,), page_table=(3, 2)),
                "head sizes 16 of 'cache' and 8 of 'input' differ",
            )
        ],
        fixed={"update_index": "i32", "page_table": "i32"},
    ),
    "paged_fill_cache": row(
        named(cache=(8, 4, 32, 16), input=(1, 4, 50, 16), page_table=(3, 2)),
        named(cache=(8, 4, 32, 16), input=(2, 4, 50, 16), page_table=(3, 2)),
        named(cache=(8, 4, 32, 16), input=(3, 4, 32, 16), page_table=(3, 1), batch_idx_tensor=(3,)),
        wrong=[
            (
                named(cache=(8, 4, 32, 16), input=(1, 4, 50, 8), page_table=(3, 2)),
                "head sizes 16 of 'cache' and 8 of 'input' differ",
            ),
            (
                named(cache=(8, 4, 32, 16), input=(4, 4, 50, 16), page_table=(3, 2)),
                "'input' is of 4 users; expected at most 3, as 'page_table' has",
            ),
            (
                named(cache=(8, 4, 32, 16), input=(2, 4, 50, 16), page_table=(3, 2), batch_idx_tensor=(1,)),
                "'batch_idx_tensor' has shape 1; expected a value for each of 2 users",
            ),
        ],
        fixed={"page_table": "i32", "batch_idx_tensor": "i32"},
    ),
}
