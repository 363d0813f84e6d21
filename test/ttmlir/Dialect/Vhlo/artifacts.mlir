// Files that jaxlib 0.10.2 made, of three versions: without properties, with them, and with Shardy's attributes.
// RUN: base64 -d %S/Inputs/bools.0.9.0.b64 > %t.bin && ttmlir-opt %t.bin | FileCheck %s --check-prefix=BOOLS
// RUN: base64 -d %S/Inputs/scatter.1.0.0.b64 | ttmlir-opt | FileCheck %s --check-prefix=SCATTER
// RUN: base64 -d %S/Inputs/qr.1.15.0.b64 | ttmlir-opt | FileCheck %s --check-prefix=QR
// What is cut off or changed is an error.
// RUN: head -c 300 %t.bin > %t.cut && not ttmlir-opt %t.cut 2>&1 | FileCheck %s --check-prefix=CUT
// RUN: sed 's/StableHLO_v0.9.0/StableHLO_v3.9.0/' %t.bin > %t.new && not ttmlir-opt %t.new 2>&1 | FileCheck %s --check-prefix=NEW
// RUN: sed 's/StableHLO_v0.9.0/StableHLO_vX.9.0/' %t.bin > %t.none && not ttmlir-opt %t.none 2>&1 | FileCheck %s --check-prefix=NONE

// BOOLS: stablehlo.constant dense<[true, false, true, true, false, false, true, true, true]> : tensor<9xi1>
// SCATTER: "stablehlo.scatter"
// SCATTER-SAME: #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
// QR: stablehlo.custom_call @lapack_sgeqrf_ffi
// QR-SAME: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m]) {i=4, j=4, k=4, l=4, m=4}, custom>
// CUT: error: the portable artifact is damaged: section {{.*}} bytes, of which
// NEW: error: the portable artifact has the version 3.9.0; versions 0.9.0 to 1.20.0 can be read
// NONE: error: the portable artifact has the version 'X.9.0'; expected MAJOR.MINOR.PATCH
