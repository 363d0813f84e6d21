//===- TTNNEnums.td - enums of the TTNN dialect ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Symbols, spellings and values as in the ecosystem's IR.
//
//===----------------------------------------------------------------------===//

#ifndef TTMLIR_DIALECT_TTNN_IR_TTNNENUMS_TD
#define TTMLIR_DIALECT_TTNN_IR_TTNNENUMS_TD

include "mlir/IR/EnumAttr.td"

class TTNN_I32Enum<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::tt::ttnn";
}

def TTNN_BFPDtype : TTNN_I32Enum<"BFPDtype", "Block format that weights are stored in.", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"BFP_BFloat8", 1, "bfp_bf8">,
    I32EnumAttrCase<"BFP_BFloat4", 2, "bfp_bf4">]>;

def TTNN_BufferType : TTNN_I32Enum<"BufferType", "Memory that holds a tensor.", [
    I32EnumAttrCase<"DRAM", 0, "dram">,
    I32EnumAttrCase<"L1", 1, "l1">,
    I32EnumAttrCase<"SystemMemory", 2, "system_memory">,
    I32EnumAttrCase<"L1Small", 3, "l1_small">,
    I32EnumAttrCase<"Trace", 4, "trace">]>;

def TTNN_ComputeKernelMathFidelity : TTNN_I32Enum<"ComputeKernelMathFidelity", "Math fidelity of a compute kernel.", [
    I32EnumAttrCase<"LoFi", 0, "lofi">,
    I32EnumAttrCase<"HiFi2", 2, "hifi2">,
    I32EnumAttrCase<"HiFi3", 3, "hifi3">,
    I32EnumAttrCase<"HiFi4", 4, "hifi4">]>;

def TTNN_ComputeKernelUnpackToDestMode : TTNN_I32Enum<"ComputeKernelUnpackToDestMode", "The format in which a compute kernel unpacks a circular buffer.", [
    I32EnumAttrCase<"Fp32", 0, "fp32">,
    I32EnumAttrCase<"Default", 1, "default">]>;

def TTNN_Conv2dSliceType : TTNN_I32Enum<"Conv2dSliceType", "The dimension along which a convolution too large for L1 is sliced.", [
    I32EnumAttrCase<"DramHeight", 0, "dram_height">,
    I32EnumAttrCase<"DramWidth", 1, "dram_width">,
    I32EnumAttrCase<"L1Full", 2, "l1_full">]>;

def TTNN_DataMovementProcessor : TTNN_I32Enum<"DataMovementProcessor", "Processor of a data movement kernel.", [
    I32EnumAttrCase<"RiscV0", 0, "riscv0">,
    I32EnumAttrCase<"RiscV1", 1, "riscv1">]>;

def TTNN_KernelCoreType : TTNN_I32Enum<"KernelCoreType", "Kind of core a semaphore lives on.", [
    I32EnumAttrCase<"Worker", 0, "worker">,
    I32EnumAttrCase<"Eth", 1, "eth">]>;

def TTNN_Layout : TTNN_I32Enum<"Layout", "Order of values in memory.", [
    I32EnumAttrCase<"RowMajor", 0, "row_major">,
    I32EnumAttrCase<"Tile", 1, "tile">,
    I32EnumAttrCase<"Invalid", 2, "invalid">]>;

def TTNN_MathFidelity : TTNN_I32Enum<"MathFidelity", "Mantissa bits that a matrix product uses.", [
    I32EnumAttrCase<"LoFi", 0, "lofi">,
    I32EnumAttrCase<"HiFi2", 2, "hifi2">,
    I32EnumAttrCase<"HiFi3", 3, "hifi3">,
    I32EnumAttrCase<"HiFi4", 4, "hifi4">]>;

def TTNN_NocMode : TTNN_I32Enum<"NocMode", "The division of the networks on chip among kernels.", [
    I32EnumAttrCase<"DedicatedNoc", 0, "dedicated_noc">,
    I32EnumAttrCase<"DynamicNoc", 1, "dynamic_noc">]>;

def TTNN_OptionalMathFidelity : TTNN_I32Enum<"OptionalMathFidelity", "Math fidelity, or undefined to leave it to the op.", [
    I32EnumAttrCase<"LoFi", 0, "lofi">,
    I32EnumAttrCase<"HiFi2", 2, "hifi2">,
    I32EnumAttrCase<"HiFi3", 3, "hifi3">,
    I32EnumAttrCase<"HiFi4", 4, "hifi4">,
    I32EnumAttrCase<"Undefined", 5, "undefined">]>;

def TTNN_PlacementType : TTNN_I32Enum<"PlacementType", "The distribution of a tensor along a mesh axis.", [
    I32EnumAttrCase<"Replicate", 0, "replicate">,
    I32EnumAttrCase<"Shard", 1, "shard">]>;

def TTNN_ReduceType : TTNN_I32Enum<"ReduceType", "The operation that combines values.", [
    I32EnumAttrCase<"Sum", 0, "sum">,
    I32EnumAttrCase<"Mean", 1, "mean">,
    I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"Std", 4, "std">,
    I32EnumAttrCase<"Var", 5, "var">,
    I32EnumAttrCase<"Prod", 6, "prod">,
    I32EnumAttrCase<"Invalid", 7, "invalid">]>;

def TTNN_ShardDistributionStrategy : TTNN_I32Enum<"ShardDistributionStrategy", "The order in which ND shards are assigned to cores.", [
    I32EnumAttrCase<"RoundRobin1D", 0, "round_robin_1d">,
    I32EnumAttrCase<"Grid2D", 1, "grid_2d">]>;

def TTNN_ShardOrientation : TTNN_I32Enum<"ShardOrientation", "Order in which shards go to cores.", [
    I32EnumAttrCase<"RowMajor", 0, "row_major">,
    I32EnumAttrCase<"ColMajor", 1, "col_major">]>;

def TTNN_TensorMemoryLayout : TTNN_I32Enum<"TensorMemoryLayout", "The distribution of a tensor over banks or cores.", [
    I32EnumAttrCase<"Interleaved", 0, "interleaved">,
    I32EnumAttrCase<"HeightSharded", 2, "height_sharded">,
    I32EnumAttrCase<"WidthSharded", 3, "width_sharded">,
    I32EnumAttrCase<"BlockSharded", 4, "block_sharded">,
    I32EnumAttrCase<"NDSharded", 5, "nd_sharded">]>;

def TTNN_UnaryOpType : TTNN_I32Enum<"UnaryOpType", "Elementwise op fused into another.", [
    I32EnumAttrCase<"Exp", 0, "exp">,
    I32EnumAttrCase<"Recip", 1, "recip">,
    I32EnumAttrCase<"Gelu", 2, "gelu">,
    I32EnumAttrCase<"Relu", 3, "relu">,
    I32EnumAttrCase<"Sqrt", 4, "sqrt">,
    I32EnumAttrCase<"Sigmoid", 5, "sigmoid">,
    I32EnumAttrCase<"Log", 6, "log">,
    I32EnumAttrCase<"Tanh", 7, "tanh">,
    I32EnumAttrCase<"Log2", 8, "log2">,
    I32EnumAttrCase<"Log10", 9, "log10">,
    I32EnumAttrCase<"Sin", 10, "sin">,
    I32EnumAttrCase<"Cos", 11, "cos">,
    I32EnumAttrCase<"Abs", 12, "abs">,
    I32EnumAttrCase<"AbsInt32", 13, "abs_int32">,
    I32EnumAttrCase<"Sign", 14, "sign">,
    I32EnumAttrCase<"Square", 15, "square">,
    I32EnumAttrCase<"Eqz", 16, "eqz">,
    I32EnumAttrCase<"Nez", 17, "nez">,
    I32EnumAttrCase<"Gtz", 18, "gtz">,
    I32EnumAttrCase<"Ltz", 19, "ltz">,
    I32EnumAttrCase<"Gez", 20, "gez">,
    I32EnumAttrCase<"Lez", 21, "Lez">,
    I32EnumAttrCase<"ReluMax", 22, "relu_max">,
    I32EnumAttrCase<"ReluMin", 23, "relu_min">,
    I32EnumAttrCase<"Power", 24, "power">,
    I32EnumAttrCase<"LeakyRelu", 25, "leaky_relu">,
    I32EnumAttrCase<"Elu", 26, "elu">,
    I32EnumAttrCase<"Exp2", 27, "exp2">,
    I32EnumAttrCase<"Heaviside", 28, "heaviside">,
    I32EnumAttrCase<"Expm1", 29, "expm1">,
    I32EnumAttrCase<"Signbit", 30, "signbit">,
    I32EnumAttrCase<"Asin", 31, "asin">,
    I32EnumAttrCase<"Acos", 32, "acos">,
    I32EnumAttrCase<"Rsqrt", 33, "rsqrt">,
    I32EnumAttrCase<"Relu6", 34, "relu6">,
    I32EnumAttrCase<"Atan", 35, "atan">,
    I32EnumAttrCase<"Erf", 36, "erf">,
    I32EnumAttrCase<"Erfc", 37, "erfc">,
    I32EnumAttrCase<"IsInf", 38, "is_inf">,
    I32EnumAttrCase<"IsPosInf", 39, "is_pos_inf">,
    I32EnumAttrCase<"IsNegInf", 40, "is_neg_inf">,
    I32EnumAttrCase<"IsNan", 41, "is_nan">,
    I32EnumAttrCase<"LogicalNotUnary", 42, "logical_not_unary">,
    I32EnumAttrCase<"IsFinite", 43, "is_finite">,
    I32EnumAttrCase<"Erfinv", 44, "erfinv">,
    I32EnumAttrCase<"I0", 45, "i0">,
    I32EnumAttrCase<"I1", 46, "i1">,
    I32EnumAttrCase<"Tan", 47, "tan">,
    I32EnumAttrCase<"Rsub", 48, "rsub">,
    I32EnumAttrCase<"Rdiv", 49, "rdiv">,
    I32EnumAttrCase<"Silu", 50, "silu">,
    I32EnumAttrCase<"SoftPlus", 51, "soft_plus">,
    I32EnumAttrCase<"Identity", 52, "identity">,
    I32EnumAttrCase<"Neg", 53, "neg">,
    I32EnumAttrCase<"AddUnarySfpu", 54, "add_unary_sfpu">,
    I32EnumAttrCase<"SubUnarySfpu", 55, "sub_unary_sfpu">,
    I32EnumAttrCase<"MulUnarySfpu", 56, "mul_unary_sfpu">,
    I32EnumAttrCase<"DivUnarySfpu", 57, "div_unary_sfpu">,
    I32EnumAttrCase<"IdentityUint32", 58, "identity_uint32">,
    I32EnumAttrCase<"UnaryNe", 59, "unary_ne">,
    I32EnumAttrCase<"UnaryGt", 60, "unary_gt">,
    I32EnumAttrCase<"UnaryLt", 61, "unary_lt">,
    I32EnumAttrCase<"TiledProd", 62, "tiled_prod">,
    I32EnumAttrCase<"Typecast", 63, "typecast">,
    I32EnumAttrCase<"BitwiseXor", 64, "bitwise_xor">,
    I32EnumAttrCase<"BitwiseNot", 65, "bitwise_not">,
    I32EnumAttrCase<"BitwiseAnd", 66, "bitwise_and">,
    I32EnumAttrCase<"BitwiseOr", 67, "bitwise_or">,
    I32EnumAttrCase<"RightShift", 68, "right_shift">,
    I32EnumAttrCase<"Floor", 69, "floor">,
    I32EnumAttrCase<"Ceil", 70, "ceil">,
    I32EnumAttrCase<"Round", 71, "round">,
    I32EnumAttrCase<"LeftShift", 72, "left_shift">,
    I32EnumAttrCase<"Remainder", 73, "remainder">,
    I32EnumAttrCase<"Fmod", 74, "fmod">,
    I32EnumAttrCase<"Dropout", 75, "dropout">,
    I32EnumAttrCase<"Fill", 76, "fill">,
    I32EnumAttrCase<"PreluSfpu", 77, "prelu_sfpu">,
    I32EnumAttrCase<"ZeroPoint", 78, "zero_point">,
    I32EnumAttrCase<"Hardsigmoid", 79, "hardsigmoid">]>;

#endif // TTMLIR_DIALECT_TTNN_IR_TTNNENUMS_TD
