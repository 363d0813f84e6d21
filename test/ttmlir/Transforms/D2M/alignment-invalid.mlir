// RUN: ttmlir-opt %s --ttcore-register-device | sed 's/noc_l1_address_align_bytes = 16/noc_l1_address_align_bytes = 0/' | not ttmlir-opt --d2m-allocate 2>&1 | FileCheck %s
// CHECK: error: ttcore.system_desc has noc_l1_address_align_bytes = 0; expected 1 or more
func.func @nothing() { return }
