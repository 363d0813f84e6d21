// RUN: ttmlir-opt %s --tt-populate-argument-types="argument-types=main=input,parameter;other=constant" | FileCheck %s
// RUN: not ttmlir-opt %s --tt-populate-argument-types=argument-types=nowhere=input 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not ttmlir-opt %s --tt-populate-argument-types=argument-types=main=input 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not ttmlir-opt %s --tt-populate-argument-types=argument-types=main=input,weight 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not ttmlir-opt %s --tt-populate-argument-types=argument-types=main 2>&1 | FileCheck %s --check-prefix=FORM

// NAME: error: argument-types: the module has no function 'nowhere'
// COUNT: error: argument-types: 1 types for 'main', which has 2 arguments
// TYPE: error: argument-types: argument 1 of 'main' is 'weight'; expected input, parameter, constant or default
// FORM: error: argument-types: 'main' is not a function's name, '=' and the types of its arguments

// CHECK: @main(%arg0: tensor<4xf32> {ttcore.argument_type = #ttcore.argument_type<input>}, %arg1: tensor<4xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>})
// CHECK: @other(%arg0: tensor<4xf32> {ttcore.argument_type = #ttcore.argument_type<constant>})
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>) { return }
func.func @other(%x: tensor<4xf32>) { return }
