#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# jax 0.10.2 on a CPU with AVX512_FP16: functions of float16 have other values than on other CPUs.
#
# logaddexp2(-1, -1) is 9.0e-5 instead of 0, and gelu(-1.5) differs in its third digit. The flag
# --xla_cpu_max_isa=AVX2 gives the results of other CPUs. AVX512, AVX512_BF16 and AMX do not, although they name units
# without arithmetic of float16.
#
# Prints the results. Exits with 1 when they are not those that were seen, and with 2 on a CPU without AVX512_FP16.
set -euo pipefail
grep -qw avx512_fp16 /proc/cpuinfo || { echo "this CPU has no AVX512_FP16"; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6 ml_dtypes==0.6.0
cat >functions.py <<'PY'
import jax
import jax.numpy as jnp

x = lambda value: jnp.array(value, jnp.float16)
print(float(jax.jit(jnp.logaddexp2)(x(-1), x(-1))), float(jax.jit(jax.nn.gelu)(x(-1.5))))
PY
result() { JAX_PLATFORMS=cpu XLA_FLAGS=${1:+--xla_cpu_max_isa=$1} env/bin/python functions.py; }
for isa in "" AVX2 AVX512 AMX; do
  printf '%-8s logaddexp2(-1, -1), gelu(-1.5): %s\n' "${isa:-none}" "$(result "$isa")"
done | tee results
[ "$(grep -c '8.96453857421875e-05 -0.100341796875' results)" = 3 ]
grep -q '^AVX2 .* 0.0 -0.1007080078125$' results
