//===- TTCoreEnums.td - enums of the TTCore dialect --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Symbols, spellings and values as in the ecosystem's IR (facts/ttcore.json).
//
//===----------------------------------------------------------------------===//

#ifndef TTMLIR_DIALECT_TTCORE_IR_TTCOREENUMS_TD
#define TTMLIR_DIALECT_TTCORE_IR_TTCOREENUMS_TD

include "mlir/IR/EnumAttr.td"

class TTCore_I32Enum<string name, string text, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, text, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::tt::ttcore";
}

def TTCore_Arch : TTCore_I32Enum<"Arch", "Chip architecture.", [
    I32EnumAttrCase<"WormholeB0", 1, "wormhole_b0">,
    I32EnumAttrCase<"Blackhole", 2, "blackhole">,
    I32EnumAttrCase<"Quasar", 3, "quasar">]>;

def TTCore_ArgumentType : TTCore_I32Enum<"ArgumentType", "The role of a function argument in the model.", [
    I32EnumAttrCase<"Input", 0, "input">,
    I32EnumAttrCase<"Parameter", 1, "parameter">,
    I32EnumAttrCase<"Constant", 2, "constant">,
    I32EnumAttrCase<"Default", 3, "default">]>;

def TTCore_AttentionMaskType : TTCore_I32Enum<"AttentionMaskType", "Mask of an attention op.", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Causal", 1, "causal">,
    I32EnumAttrCase<"Arbitrary", 2, "arbitrary">]>;

def TTCore_CPURole : TTCore_I32Enum<"CPURole", "The role of a CPU in the system.", [
    I32EnumAttrCase<"Host", 0, "host">,
    I32EnumAttrCase<"Device", 1, "device">]>;

def TTCore_ChipCapability : I32BitEnumAttr<"ChipCapability", "The capabilities of a chip towards the host.", [
    I32BitEnumAttrCaseBit<"HostMMIO", 0, "host_mmio">]> {
  let genSpecializedAttr = 1;
  let cppNamespace = "::mlir::tt::ttcore";
}

def TTCore_DataType : TTCore_I32Enum<"DataType", "Data formats of device tensors.", [
    I32EnumAttrCase<"Float32", 0, "f32">,
    I32EnumAttrCase<"Float16", 1, "f16">,
    I32EnumAttrCase<"BFloat16", 2, "bf16">,
    I32EnumAttrCase<"BFP_Float8", 3, "bfp_f8">,
    I32EnumAttrCase<"BFP_BFloat8", 4, "bfp_bf8">,
    I32EnumAttrCase<"BFP_Float4", 5, "bfp_f4">,
    I32EnumAttrCase<"BFP_BFloat4", 6, "bfp_bf4">,
    I32EnumAttrCase<"BFP_Float2", 7, "bfp_f2">,
    I32EnumAttrCase<"BFP_BFloat2", 8, "bfp_bf2">,
    I32EnumAttrCase<"UInt32", 9, "u32">,
    I32EnumAttrCase<"UInt16", 10, "u16">,
    I32EnumAttrCase<"UInt8", 11, "u8">,
    I32EnumAttrCase<"Int32", 12, "si32">,
    I32EnumAttrCase<"Bool", 13, "i1">]>;

def TTCore_IteratorType : TTCore_I32Enum<"IteratorType", "Kind of a loop.", [
    I32EnumAttrCase<"Parallel", 0, "parallel">,
    I32EnumAttrCase<"Reduction", 1, "reduction">]>;

def TTCore_MemorySpace : TTCore_I32Enum<"MemorySpace", "The memory of a buffer.", [
    I32EnumAttrCase<"System", 0, "system">,
    I32EnumAttrCase<"SystemMMIO", 1, "mmio">,
    I32EnumAttrCase<"DeviceDRAM", 2, "dram">,
    I32EnumAttrCase<"DeviceL1", 3, "l1">,
    I32EnumAttrCase<"RegisterDst", 4, "dst">]>;

def TTCore_MeshShardDirection : TTCore_I32Enum<"MeshShardDirection", "The direction of mesh_shard: to shards, or to the full tensor.", [
    I32EnumAttrCase<"FullToShard", 0, "full_to_shard">,
    I32EnumAttrCase<"ShardToFull", 1, "shard_to_full">]>;

def TTCore_MeshShardType : TTCore_I32Enum<"MeshShardType", "The distribution of a tensor by mesh_shard.", [
    I32EnumAttrCase<"Identity", 0, "identity">,
    I32EnumAttrCase<"Replicate", 1, "replicate">,
    I32EnumAttrCase<"Maximal", 2, "maximal">,
    I32EnumAttrCase<"Devices", 3, "devices">]>;

def TTCore_MoEActivationFunction : TTCore_I32Enum<"MoEActivationFunction", "Activation of a mixture-of-experts op.", [
    I32EnumAttrCase<"Silu", 0, "silu">,
    I32EnumAttrCase<"SwiGLU", 1, "swiglu">]>;

def TTCore_NocIndex : TTCore_I32Enum<"NocIndex", "Network on chip.", [
    I32EnumAttrCase<"Noc0", 0, "noc0">,
    I32EnumAttrCase<"Noc1", 1, "noc1">]>;

def TTCore_OOBVal : TTCore_I32Enum<"OOBVal", "Value read outside a tensor.", [
    I32EnumAttrCase<"Undef", 0, "undef">,
    I32EnumAttrCase<"Zero", 1, "zero">,
    I32EnumAttrCase<"One", 2, "one">,
    I32EnumAttrCase<"Inf", 3, "inf">,
    I32EnumAttrCase<"NegInf", 4, "neginf">]>;

def TTCore_ReduceType : TTCore_I32Enum<"ReduceType", "The operation that combines values.", [
    I32EnumAttrCase<"Sum", 0, "sum">,
    I32EnumAttrCase<"Mean", 1, "mean">,
    I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"Std", 4, "std">,
    I32EnumAttrCase<"Var", 5, "var">,
    I32EnumAttrCase<"Prod", 6, "prod">,
    I32EnumAttrCase<"Invalid", 7, "invalid">]>;

def TTCore_RoutingMode : TTCore_I32Enum<"RoutingMode", "The routing of the fabric.", [
    I32EnumAttrCase<"BidirLineMesh", 0, "bidir_line_mesh">,
    I32EnumAttrCase<"UnidirRingTorus", 1, "unidir_ring_torus">]>;

def TTCore_ShardStatus : TTCore_I32Enum<"ShardStatus", "The state of an argument on arrival: distributed or not.", [
    I32EnumAttrCase<"Presharded", 0, "presharded">,
    I32EnumAttrCase<"Unsharded", 1, "unsharded">]>;

def TTCore_TensorMemoryLayout : TTCore_I32Enum<"TensorMemoryLayout", "The distribution of a metal tensor over cores.", [
    I32EnumAttrCase<"Interleaved", 0, "interleaved">,
    I32EnumAttrCase<"Sharded", 1, "sharded">]>;

def TTCore_Topology : TTCore_I32Enum<"Topology", "The links between the chips of a mesh axis.", [
    I32EnumAttrCase<"Ring", 0, "ring">,
    I32EnumAttrCase<"Linear", 1, "linear">,
    I32EnumAttrCase<"Mesh", 2, "mesh">,
    I32EnumAttrCase<"Torus", 3, "torus">,
    I32EnumAttrCase<"Disabled", 4, "disabled">]>;

#endif // TTMLIR_DIALECT_TTCORE_IR_TTCOREENUMS_TD
