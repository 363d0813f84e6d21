# SPDX-License-Identifier: Apache-2.0
"""Domains: rows name ops, and the requirement on a value reaches the argument that it comes from."""

from __future__ import annotations

import random
import subprocess
import sys

import numpy
import pytest
from golden.domains import (
    ALL,
    ANYTHING,
    DOMAINS,
    FIRST,
    Body,
    Use,
    Value,
    accepts,
    argument_domains,
    inside,
)
from golden.mapping import TABLE, find_op
from golden.sampling import generator, random_array
from ttmlir.op_facts import ops_with
from ttrt.ops import registry

ROWS = 1000
SHAPE = (4, 4, 4, 4)
ATTRIBUTES = {"dim": 0, "slice_sizes": [1] * 4, "dimension_numbers": ""}
MOVING = {name for name in ops_with("moves_values") if accepts(name) is ANYTHING}
KEEPERS = {name: row.keeps for name, row in DOMAINS.items() if row.keeps} | dict.fromkeys(sorted(MOVING), FIRST)


def tensor(key: str, dtype: str = "si32") -> Value:
    return Value(key, SHAPE, dtype)


def looked_up(positions: Value) -> Use:
    """An embedding: its indices are 0 to ROWS - 1."""
    weight = Value("weight", (ROWS, 8), "f32")
    return Use("ttnn.embedding", [[positions], [weight]], [Value("row", (*SHAPE, 8), "f32")])


def keeper(name: str, kept: int, source: Value, result: Value) -> Use:
    """An op whose operand `kept` is `source`; the others are values of their own."""
    count = max([kept, *accepts(name).operands]) + 1
    operands = [[source] if i == kept else [tensor(f"{result.key}.{i}")] for i in range(count)]
    results = [result, tensor(f"{result.key}.other")]
    return Use(name, operands, results, lambda: ATTRIBUTES, moves=name in MOVING)


def test_rows_name_ops():
    ops = {row.name for row in registry()}
    known = set(TABLE) | ops | {name.partition(".")[2] for name in ops}
    assert [name for name in DOMAINS if name not in known] == []


def test_rows_of_ops_that_move_elements_keep_some():
    each_of_one = ["stablehlo.sort"]  # a result has the elements of one operand, not of all
    rows = {name: accepts(name) for name in sorted(ops_with("moves_values")) if find_op(name)}
    assert [name for name, row in rows.items() if row is not ANYTHING and not row.keeps] == each_of_one


@pytest.mark.parametrize(
    ("name", "kept"),
    [(name, i) for name, keeps in KEEPERS.items() for i in sorted({0, 2, 7} if keeps == ALL else keeps)],
)
def test_a_domain_travels_through(name, kept):
    x, y = tensor("x"), tensor("y")
    body = Body([x], [keeper(name, kept, x, y), looked_up(y)])
    assert argument_domains(body) == {0: (0, ROWS - 1)}


def test_a_domain_travels_through_chains(seed):
    source = random.Random(seed)
    for _ in range(200):
        chain = [source.choice(list(KEEPERS)) for _ in range(source.randint(1, 8))]
        values = [tensor(str(i)) for i in range(len(chain) + 1)]
        uses = []
        for name, before, after in zip(chain, values, values[1:], strict=False):
            kept = source.choice(sorted({0, 1} if KEEPERS[name] == ALL else KEEPERS[name]))
            uses.append(keeper(name, kept, before, after))
        body = Body([values[0]], [*uses, looked_up(values[-1])])
        assert argument_domains(body) == {0: (0, ROWS - 1)}, chain


@pytest.mark.parametrize("name", ["ttir.add", "ttir.argmax", "ttir.sum", "ttir.topk_router_gpt", "test.unknown"])
def test_a_domain_ends_at_what_computes(name):
    x, y = tensor("x"), tensor("y")
    body = Body([x], [Use(name, [[x]], [y]), looked_up(y)])
    assert argument_domains(body) == {}


def test_indices_of_a_sort_are_not_its_values():
    x, values, indices = tensor("x"), tensor("values"), tensor("indices")
    body = Body([x], [Use("ttir.topk", [[x]], [values, indices]), looked_up(indices)])
    assert argument_domains(body) == {}


def test_a_call_hands_domains_through():
    """Propagates domains of operands from inside a callee, and of results from outside."""
    x, y, z = tensor("x"), tensor("y"), tensor("z")
    inner = Body([tensor("a"), tensor("b")], [keeper("ttir.typecast", 0, tensor("a"), tensor("c"))], [tensor("c")])
    call = Use("func.call", [[x], [y]], [z], callee=lambda: inner)
    assert argument_domains(Body([x, y], [call, looked_up(z)])) == {0: (0, ROWS - 1)}
    inside_call = Body([tensor("a")], [looked_up(tensor("a"))])
    assert argument_domains(Body([x], [Use("func.call", [[x]], [], callee=lambda: inside_call)])) == {0: (0, ROWS - 1)}


def test_preference_of_a_cast_yields_to_requirements():
    x, y = tensor("x", "f32"), tensor("y")
    cast = Use("ttir.typecast", [[x]], [y])
    assert argument_domains(Body([x], [cast])) == {0: (-8.0, 8.0)}
    assert argument_domains(Body([x], [cast, looked_up(y)])) == {0: (0, ROWS - 1)}


# Operand -> the indices that it may hold, for shapes and attributes as in a program.
CACHE, PAGES, TABLE_OF_PAGES = (8, 2, 64, 16), (20, 2, 32, 16), (8, 4)
INDICES = {
    ("ttir.embedding", 0): ([(3, 5), (100, 8)], {}, 99),
    ("ttnn.embedding", 0): ([(3, 5), (1, 1, 100, 8)], {}, 99),
    ("ttnn.embedding_bw", 0): ([(3, 5), (100, 8), (3, 5, 8)], {}, 99),
    ("ttir.gather", 1): ([(6, 7), (6, 2)], {"dim": 1}, 6),
    ("ttir.gather", -1): ([(6, 7), (6, 2)], {"dim": -2}, 5),
    ("ttir.scatter", 1): ([(6, 7), (6, 2), (6, 2)], {"dim": 1}, 6),
    ("stablehlo.gather", 1): (
        [(50, 8), (3, 1)], {"slice_sizes": [1, 8], "dimension_numbers": "<offset_dims = [1], start_index_map = [0]>"},
        49),
    ("stablehlo.scatter", 1): (
        [(50, 8), (3, 1), (3, 8)], {"scatter_dimension_numbers": "<scatter_dims_to_operand_dims = [0]>"}, 49),
    ("stablehlo.torch_index_select", 1): ([(50, 8), (3,)], {"dim": 0}, 49),
    ("ttnn.update_cache", 2): ([CACHE, (1, 2, 8, 16), (1,)], {}, 63),
    ("ttnn.paged_update_cache", 2): ([CACHE, (1, 8, 2, 16), (8,), None], {}, 63),
    ("ttnn.paged_update_cache", 3): ([PAGES, (1, 8, 2, 16), (8,), TABLE_OF_PAGES], {}, 19),
    ("ttnn.paged_fill_cache", 2): ([PAGES, (1, 2, 96, 16), TABLE_OF_PAGES, (1,)], {}, 19),
    ("ttnn.paged_fill_cache", 3): ([PAGES, (1, 2, 96, 16), TABLE_OF_PAGES, (1,)], {}, 7),
    ("ttnn.scaled_dot_product_attention_decode", 4): ([(1, 8, 2, 16), CACHE, CACHE, None, (8,)], {}, 63),
    ("ttnn.paged_scaled_dot_product_attention_decode", 3): ([(1, 8, 2, 16), PAGES, PAGES, TABLE_OF_PAGES], {}, 19),
    ("ttnn.paged_scaled_dot_product_attention_decode", 5): (
        [(1, 8, 2, 16), PAGES, PAGES, TABLE_OF_PAGES, None, (8,)], {}, 127),
    ("ttir.paged_scaled_dot_product_attention_decode", 6): (
        [(1, 8, 2, 16), PAGES, PAGES, TABLE_OF_PAGES, (1, 8, 2, 16), None, (8,)], {}, 127),
    ("ttnn.nlp_create_qkv_heads_decode", 1): ([(1, 1, 32, 96), (1,)], {"slice_size": 8}, 24),
}  # fmt: skip


@pytest.mark.parametrize(("name", "operand"), INDICES, ids=str)
def test_indices_lie_inside(name, operand):
    shapes, attributes, last = INDICES[name, operand]
    operand = 1 if operand < 0 else operand
    assert accepts(name).of(operand, shapes, attributes) == (0, last)


def test_every_row_with_indices_has_a_case():
    named = {name.partition(".")[2] for name, _ in INDICES} | {name for name, _ in INDICES}
    begin = list(DOMAINS).index("embedding")
    rows = [name for name in list(DOMAINS)[begin:] if DOMAINS[name].operands]
    others = {"slice_dynamic", "chunked_scaled_dot_product_attention",
              "paged_flash_multi_latent_attention_decode", "embedding_backward"}  # fmt: skip
    assert [name for name in rows if name not in named | others] == []


@pytest.mark.parametrize(("dtype", "last"), [("bf16", 30464), ("f16", 30512), ("f32", 30521), ("si32", 30521)])
def test_no_index_is_rounded_out_of_the_table(dtype, last):
    assert inside((0, 30521), dtype) == (0, last)
    x, y = tensor("x", dtype), tensor("y")
    weight = Value("weight", (30522, 8), "f32")
    body = Body([x], [Use("ttir.typecast", [[x]], [y]), Use("ttir.embedding", [[y], [weight]], [tensor("row")])])
    assert argument_domains(body) == {0: (0, last)}
    if dtype == "bf16":
        drawn = random_array((4096,), "bfloat16", (0, last), generator(0)).astype(numpy.float32)
        assert drawn.min() >= 0 and drawn.max() <= last


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64", "bool", "float16", "bfloat16",
                                   "float32", "float64", "complex64"])  # fmt: skip
@pytest.mark.parametrize("shape", [(), (0,), (33, 5)], ids=str)
def test_arrays_of_every_kind(dtype, shape):
    for domain in (None, (-2.0, 2.0), (0, 7), (3, 3), (-6e4, 6e4)):
        drawn = random_array(shape, dtype, domain, generator(1, dtype))
        assert isinstance(drawn, numpy.ndarray) and drawn.shape == shape and drawn.dtype.name == dtype
        if domain == (0, 7) and dtype != "complex64":
            assert ((drawn >= 0) & (drawn <= 7)).all()


def test_torch_is_not_needed():
    program = f"""import sys
sys.path[:0] = {sys.path!r}
import golden.domains, golden.sampling
print("torch" in sys.modules)"""
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "False\n"
