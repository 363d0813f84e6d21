#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# onnx 1.23.2 expects other results of its own node cases with ml_dtypes 0.7.0 than with 0.6.0.
#
# The package makes the cases when they are collected, and converts floats to int4, uint4, int2 and uint2 by the NumPy
# types of ml_dtypes. A float that the type does not hold wrapped in 0.6.0 (100 -> 4 as int4) and becomes 0 in 0.7.0.
# Inputs of the cases go beyond the type, for which the specification of Cast defines no result. So a backend that
# passes test_cast_FLOAT_to_INT4 and 23 more with one version fails them with the other, at the same pin of onnx.
#
# Prints what is expected of values that int4 and uint2 do not hold, and how many cases changed. Exits with 1 when they
# are not those that were seen.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet onnx==1.23.2 ml_dtypes==0.6.0 numpy==2.4.6
cat >collect.py <<'PY'
import contextlib
import io
import pickle
import sys
import warnings

import numpy
import onnx.backend.test.case.node as node
from onnx import TensorProto, numpy_helper

warnings.simplefilter("ignore")
found = {}
with contextlib.redirect_stdout(io.StringIO()), numpy.errstate(all="ignore"):
    for case in node.collect_testcases(None):
        if case.name.startswith("test_cast"):
            (((given, *_), (expected,)),) = case.data_sets
            values = [numpy_helper.to_array(x) if isinstance(x, TensorProto) else x for x in (given, expected)]
            found[case.name] = [x.astype(numpy.float64).ravel().tolist() for x in values]
for name, limits in (("test_cast_FLOAT_to_INT4", (-8, 7)), ("test_cast_FLOAT_to_UINT2", (0, 3))):
    pairs = [(x, y) for x, y in zip(*found[name]) if not limits[0] <= int(x) <= limits[1]]
    print(sys.argv[1], name, *(f"{x:g}:{y:g}" for x, y in pairs[-4:]))
with open(sys.argv[1], "wb") as file:
    pickle.dump(found, file)
PY
env/bin/python collect.py 0.6.0 | tee results
env/bin/pip install --quiet ml_dtypes==0.7.0
env/bin/python collect.py 0.7.0 | tee -a results
env/bin/python - <<'PY' | tee -a results
import pickle

old, new = (pickle.load(open(name, "rb")) for name in ("0.6.0", "0.7.0"))
same = [name for name in old if repr(old[name][0]) == repr(new[name][0])]  # others have random inputs
changed = [name for name in same if repr(old[name][1]) != repr(new[name][1])]
print(len(changed), "cases changed,", sum("INT4" in name or "INT2" in name for name in changed), "of them to integers")
PY
grep -qx '0.6.0 test_cast_FLOAT_to_INT4 12:-4 13:-3 14:-2 15:-1' results
grep -qx '0.7.0 test_cast_FLOAT_to_INT4 12:0 13:0 14:0 15:0' results
grep -qx '24 cases changed, 24 of them to integers' results
