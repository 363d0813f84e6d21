#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# jax 0.10.2 on a CPU with FMA: a compiled function uses two different values of one variable.
#
# f returns a, s = ceil(a - 1.5) and s - a. Of its compiled results a = 2.5 and s = 2, but s - a is -1.5 and not -0.5:
# the loop for s fuses the product and the difference, which makes 1.0000001, and the loop for s - a rounds the product
# first, which makes 1. Without jit, s is 1. A program that takes an index and an interpolation weight from one such
# value reads elements that do not belong to its weights: tf.image.resize(x, [7, 9]) with jit_compile does so
# (tensorflow-cpu 2.21.0), for an image of 4 x 5 pixels.
#
# Prints the results. Exits with 1 when they are not those that were seen, and with 2 on a CPU without FMA.
set -euo pipefail
grep -qw fma /proc/cpuinfo || { echo "this CPU has no FMA"; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6 ml_dtypes==0.6.0
cat >rounding.py <<'PY'
import jax
import jax.numpy as jnp


def f(x, scale):
    a = x * scale
    s = jnp.ceil(a - 1.5)
    return a, s, s - a


arguments = jnp.full(9, 4.5), jnp.float32(5 / 9)
for name, function in (("without jit", f), ("with jit", jax.jit(f))):
    print(f"{name:12} a, s, s - a:", *(float(result[4]) for result in function(*arguments)))
PY
JAX_PLATFORMS=cpu env/bin/python rounding.py | tee results
grep -q '^without jit .* 2.5 1.0 -1.5$' results
grep -q '^with jit .* 2.5 2.0 -1.5$' results
