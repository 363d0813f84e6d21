# SPDX-License-Identifier: Apache-2.0
"""The inputs that ttrt makes: values that the ops accept, also behind ops that keep values, and --init."""

from __future__ import annotations

import random
from typing import Any

import numpy
import pytest
import torch

WORDS, POSITIONS, WIDTH = 37, 24, 32


def decoder(builder: Any) -> None:
    """Words and positions that reach their tables through casts, reshapes and slices, a cache and its position."""
    table = torch.linspace(-1, 1, POSITIONS * WIDTH).reshape(POSITIONS, WIDTH)

    @builder.func(
        [(1, 20), (20,), (WORDS, WIDTH), (1, 1, 16, WIDTH), (1,), (WIDTH, WIDTH)],
        [torch.int32, torch.int32, torch.float32, torch.float32, torch.int32, torch.float32],
    )
    def decode(words, places, weight, cache, position, w, builder):
        ids = builder.typecast(builder.reshape(words, shape=[20]), output_type=torch.uint32)
        ids = builder.concat([builder.slice(ids, begins=[10], ends=[20], step=[1]), ids], dim=0)
        x = builder.embedding(builder.reshape(ids, shape=[1, 30]), weight)
        at = builder.embedding(builder.typecast(builder.reshape(places, shape=[1, 20]), output_type=torch.uint32),
                               builder.constant(table))  # fmt: skip
        x = builder.add(builder.slice(x, begins=[0, 0, 0], ends=[1, 20, WIDTH], step=[1, 1, 1]), at)
        row = builder.slice(builder.matmul(x, w), begins=[0, 0, 0], ends=[1, 1, WIDTH], step=[1, 1, 1])
        cache = builder.update_cache(cache, builder.reshape(row, shape=[1, 1, 1, WIDTH]), position)
        return builder.softmax(x, dimension=2), cache


@pytest.fixture
def decoding(flatbuffer) -> str:
    return flatbuffer(decoder)


def inputs_of(path: str) -> dict[int, torch.Tensor]:
    """Returns the inputs that a run with --save-artifacts drew."""
    return {i: torch.load(f"{path}/input_{i}.pt") for i in range(5)}


@pytest.mark.parametrize("seed", range(4))
def test_a_decoder_gets_words_of_its_vocabulary(ttrt, decoding, seed):
    found = ttrt("run", decoding, "--seed", str(seed), "--golden", "--save-artifacts")
    assert found.code == 0, found.err
    drawn = inputs_of("ttrt-artifacts/decoder/decode")
    for index, count in ((0, WORDS), (1, POSITIONS), (4, 16)):
        assert drawn[index].min() >= 0 and drawn[index].max() < count
    assert drawn[0].max() >= WORDS // 2, "words are drawn from the whole vocabulary"


def test_the_same_inputs_with_and_without_goldens(ttrt, decoding):
    for options, name in (([], "a.pt"), (["--golden"], "b.pt"), (["--golden", "--ops"], "c.pt")):
        assert ttrt("run", decoding, "--save-outputs", name, *options).code == 0
    a, b, c = (torch.load(name) for name in ("a.pt", "b.pt", "c.pt"))
    assert all(torch.equal(a[k], b[k]) and torch.equal(a[k], c[k]) for k in a)


def test_perf_and_compare_draw_them_too(ttrt, decoding):
    for command in (["perf", decoding, "--loops", "1"], ["compare", decoding, decoding]):
        found = ttrt(*command)
        assert found.code == 0, found.err


STEPS = {
    "typecast": lambda b, x, source: b.typecast(
        x, output_type=source.choice([torch.int32, torch.uint32, torch.float32])
    ),
    "reshape": lambda b, x, source: b.reshape(x, shape=source.choice([[24], [1, 24], [4, 6], [2, 3, 4]])),
    "permute": lambda b, x, source: b.permute(x, permutation=source.sample(range(rank(x)), rank(x))),
    "repeat": lambda b, x, source: b.repeat(x, repeat_dimensions=[2] + [1] * (rank(x) - 1)),
    "slice": lambda b, x, source: b.slice(x, begins=[0] * rank(x), ends=[1, *shape(x)[1:]], step=[1] * rank(x)),
    "concat": lambda b, x, source: b.concat([x, x], dim=0),
    "maximum": lambda b, x, source: b.maximum(x, x),
    "unsqueeze": lambda b, x, source: b.unsqueeze(x, dim=0),
}


def shape(x: Any) -> list[int]:
    return list(x.type.shape)


def rank(x: Any) -> int:
    return len(shape(x))


@pytest.mark.parametrize("number", range(12))
def test_any_way_to_a_table(ttrt, flatbuffer, seed, number):
    """Random chains of ops that keep values between an argument and an embedding."""
    source = random.Random(f"{seed}/{number}")

    def chain(builder: Any) -> None:
        @builder.func([(4, 6), (WORDS, WIDTH)], [torch.int32, torch.float32])
        def chain(x, weight, builder):
            for _ in range(source.randint(1, 5)):
                name = source.choice(list(STEPS))
                if name == "reshape" and torch.Size(shape(x)).numel() != 24:
                    continue
                x = STEPS[name](builder, x, source) if rank(x) < 4 else x
            x = builder.typecast(builder.reshape(x, shape=[1, torch.Size(shape(x)).numel()]), output_type=torch.uint32)
            return builder.embedding(x, weight)

    path = flatbuffer(chain)
    for draw in range(3):
        found = ttrt("run", path, "--seed", str(draw), "--golden")
        assert found.code == 0, found.err


def test_init_of_one_input_and_of_all(ttrt, files):
    numpy.save("first.npy", numpy.arange(6).reshape(2, 3))
    ttrt("run", files.one, "--init", "0=first.npy", "--init", "ones", "--save-outputs", "out.pt")
    assert torch.equal(torch.load("out.pt")["add.output_0"], torch.arange(1, 7, dtype=torch.int32).reshape(2, 3))
    assert ttrt("run", files.one, "--init", "arg1=5:6", "--init", "arg0=zeros", "--save-outputs", "out.pt").code == 0
    assert (torch.load("out.pt")["add.output_0"] == 5).all()
    assert ttrt("run", files.two, "--init", "main=0:1", "--init", "x=-0.5:0.5").code == 1  # no input is called so


@pytest.mark.parametrize("seed", range(3))
def test_a_range_ends_before_its_end(ttrt, files, seed):
    options = ["--init", "-2:2", "--seed", str(seed), "--save-outputs", "out.pt"]
    assert ttrt("run", files.one, *options).code == 0
    values = torch.load("out.pt")["add.output_0"]
    assert values.min() >= -4 and values.max() <= 2
    assert ttrt("run", files.two, "--program", "other", "--init", "1e-3:2e-3", "--save-outputs", "out.pt").code == 0
    values = torch.load("out.pt")["output_0"].float()
    assert values.min() >= 1 and values.max() < 1.01


TAKES = 'the program "add" takes: arg0 tensor<2x3xsi32>, arg1 tensor<2x3xsi32>'


@pytest.mark.parametrize(
    ("code", "options", "message"),
    [
        (2, ["one"], "'one' is no way to make inputs; expected domain, rand, randn, normal, zeros, ones, arange, "
                     "LOW:HIGH or a file; did you mean ones?"),
        (2, ["arg0=5:5"], "'5:5' is no range: 5 is not below 5"),
        (2, ["5:-5"], "'5:-5' is no range: 5 is not below -5"),
        (2, ["=ones"], "'=ones' names no input before the ="),
        (2, ["x.npy"], "'x.npy' is a file: say for which input, as in NAME=x.npy"),
        (2, ["0:nan"], "'0:nan' is no way to make inputs; expected"),
        (1, ["arg7=ones"], f'--init arg7=ones: no input named "arg7" (did you mean arg1?); {TAKES}'),
        (1, ["arg0=ones", "arg0=zeros"], "--init arg0=zeros: another --init makes the input arg0; give one of them"),
        (1, ["ones", "zeros"], "--init zeros: another --init makes all inputs; give one of them"),
        (1, ["arg0=0.2:0.8"], "--init arg0=0.2:0.8: no integer lies in this range; it is for input 0 of 'add', a "
                              "tensor<2x3xsi32>"),
        (1, ["arg0=0:1e10"], "--init arg0=0:1e10: 9999999999 is no value of input 0 of 'add', a tensor<2x3xsi32>: "
                             "-2147483648 to 2147483647"),
        (1, ["arg0=nosuch.npy"], "nosuch.npy: No such file or directory"),
        (1, ["arg0=shape.npy"], "--init arg0=shape.npy: 0 has shape [3, 2], the program takes [2, 3]"),
        (1, ["arg0=several.npz"], "--init arg0=several.npz: the file has a, b; expected one tensor, or one of arg0"),
        (1, ["arg0=large.npy"], "--init arg0=large.npy: 0 has 3000000000, which si32 cannot hold"),
        (1, ["arg0=words.npy"], "words.npy: 0 has elements of type <U5; expected numbers"),
    ],
)  # fmt: skip
def test_wrong_init(ttrt, files, code, options, message):
    numpy.save("shape.npy", numpy.ones((3, 2)))
    numpy.save("large.npy", numpy.full((2, 3), 3_000_000_000))
    numpy.save("words.npy", numpy.full((2, 3), "words"))
    numpy.savez("several.npz", a=numpy.ones((2, 3)), b=numpy.ones((2, 3)))
    found = ttrt("run", files.one, *(f"--init={option}" for option in options))
    assert (found.code, found.out) == (code, "") and message in found.err and found.err.count("\n") == 1
