#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ttnn 0.81.1: what a float becomes as UINT8 depends on the layout of the tensor.
#
# `ttnn.to_dtype` of a tensor on the host wraps numbers that the type has no room for if the tensor is row-major (300.7
# becomes 44, -1.5 becomes 255), and saturates them if it is in tiles (255 and 0). INT8 is alike. UINT16 saturates in
# both layouts. `ttnn.Tensor(array, ttnn.uint8, layout=...)` and `ttnn.from_torch` do the same. There is no error and no
# warning.
#
# Needs Python 3.12, and no card: the package takes a described one. Prints the numbers of both layouts. Exits with 1
# when they are not those that were seen.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.12}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q ttnn==0.81.1
cat >"$folder/n150.yaml" <<'YAML'
arch: {0: wormhole_b0}
chips: {0: [0, 0, 0, 0]}
ethernet_connections: []
chips_with_mmio: [0: 0]
harvesting: {0: {noc_translation: true, harvest_mask: 32}}
boardtype: {0: n150}
chip_to_boardtype: {0: n150}
chip_unique_ids: {0: 1649267441665}
boards: [[{board_id: 1649267441665}, {board_type: n150}, {chips: [0]}]]
YAML
cat >"$folder/by_layout.py" <<'PY'
import numpy as np
import ttnn

numbers = np.array([[1.5, -1.5, 300.7, 70000.0]], np.float32)
for dtype in (ttnn.uint8, ttnn.int8, ttnn.uint16):
    for layout in (ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT):
        print("FOUND", dtype.name, layout.name, ttnn.Tensor(numbers, dtype, layout=layout).to_list()[0])
PY
export TT_METAL_MOCK_CLUSTER_DESC_PATH="$folder/n150.yaml" HOME="$folder"
found=$("$folder/venv/bin/python" "$folder/by_layout.py" 2>/dev/null | sed -n 's/^FOUND //p')
echo "$found"
[ "$found" = "UINT8 ROW_MAJOR [1, 255, 44, 112]
UINT8 TILE [1, 0, 255, 255]
INT8 ROW_MAJOR [1, -1, 44, 112]
INT8 TILE [1, -1, 127, 127]
UINT16 ROW_MAJOR [1, 0, 300, 65535]
UINT16 TILE [1, 0, 300, 65535]" ]
