// SPDX-License-Identifier: Apache-2.0
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-epochs=true epoch-policy=fast" 2>&1 | FileCheck %s --check-prefix=POLICY
// POLICY: error: 'builtin.module' op ttnn-place-epochs: policy is 'fast'; expected auto, work, ribbon, smallest or any
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-epochs=true epoch-rows=65" 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: 'builtin.module' op ttnn-place-epochs: rows is 65; expected 0 to 64
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline --ttnn-place-epochs=columns=4294967295 2>&1 | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: error: 'builtin.module' op ttnn-place-epochs: columns is 4294967295; expected 0 to 64
// RUN: not ttmlir-opt %s --ttnn-place-epochs=columns=4294967296 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: '4294967296' value invalid for uint argument
// RUN: not ttmlir-opt %s --ttnn-place-epochs=rows=-1 2>&1 | FileCheck %s --check-prefix=LESS
// LESS: '-1' value invalid for uint argument
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-epochs=true epoch-rows=1" 2>&1 | FileCheck %s --check-prefix=FEWER
// FEWER: error: {{.*}}'ttnn.exp' op ttcore.grid is 2x4; there are 1x8 cores (ttnn-place-epochs)
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-epochs=true epoch-one-row=true" 2>&1 | FileCheck %s --check-prefix=ROW
// ROW: error: {{.*}}'ttnn.exp' op ttcore.grid is 2x4; expected one row of cores (ttnn-place-epochs one-row)
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-epochs=true epoch-overrides=a=2" 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: error: 'builtin.module' op ttnn-place-epochs: overrides has 'a=2'; expected NAME=ROWSxCOLUMNS:ROWxCOLUMN:transposed, such as relu=2x4:1x0
// RUN: not ttmlir-opt %s --ttnn-place-epochs="overrides=a=2x2:0x0:turned" 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: overrides has 'a=2x2:0x0:turned'; expected
// RUN: not ttmlir-opt %s --ttnn-place-epochs="overrides=a=" 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: overrides has 'a='; expected
// RUN: not ttmlir-opt %s --ttnn-place-epochs="overrides=a=0x2" 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: overrides has 'a=0x2'; expected
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-epochs=true epoch-overrides=a=2x2,b=1x1,a=2x4" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: 'builtin.module' op ttnn-place-epochs: overrides has 'a' twice, the second time as 'a=2x4'; expected one place of an op
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-epochs=true epoch-overrides=a=:7x0" 2>&1 | FileCheck %s --check-prefix=CORE
// CORE: error: {{.*}}'ttnn.exp' op none of its 1 grids, such as 2x4, fits at core 7, 0; there are 8x8 cores (ttnn-place-epochs overrides)
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-epochs=true epoch-overrides=a=9x1" 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: error: {{.*}}'ttnn.exp' op none of its 1 grids, such as 9x1, fits at core 0, 0; there are 8x8 cores (ttnn-place-epochs overrides)
func.func @requested(%x: tensor<256x256xbf16>) -> tensor<256x256xbf16> {
  %0 = "ttir.exp"(%x) {ttcore.grid = #ttcore.grid<2x4>} : (tensor<256x256xbf16>) -> tensor<256x256xbf16> loc("a")
  return %0 : tensor<256x256xbf16>
}
