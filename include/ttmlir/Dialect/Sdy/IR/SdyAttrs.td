//===- SdyAttrs.td - attributes of the Shardy dialect ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_SDY_IR_SDYATTRS_TD
#define TTMLIR_DIALECT_SDY_IR_SDYATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonAttrConstraints.td"
include "ttmlir/Dialect/Sdy/IR/SdyBase.td"
include "ttmlir/Dialect/Sdy/IR/SdyEnums.td"

class Sdy_Attr<string name, string attrMnemonic> : AttrDef<Sdy_Dialect, name> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

def Sdy_MeshAxis : Sdy_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "A named axis of a mesh and the number of devices along it.";
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$size);
  let assemblyFormat = "`` $name `` `=` `` $size";
  let genVerifyDecl = 1;
}

def Sdy_Mesh : Sdy_Attr<"Mesh", "mesh"> {
  let summary = "Devices, arranged along named axes.";
  let description = [{
    Devices are numbered along the axes, the last one fastest, unless `device_ids` gives another order. Without axes it
    is a single device: the one of `device_ids`, or any. Example: `#sdy.mesh<["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>`.
  }];
  let parameters = (ins OptionalArrayRefParameter<"MeshAxisAttr">:$axes,
                        OptionalArrayRefParameter<"int64_t">:$device_ids);
  let assemblyFormat = [{
    `<` `[` (`]`) : ($axes^ `]`)? (`,` `device_ids` `` `=` `` `[` $device_ids^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The number of devices along the axis, or nothing if there is no such axis.
    std::optional<int64_t> getAxisSize(::llvm::StringRef name) const;
    /// The number of devices.
    int64_t getTotalSize() const;
  }];
}

def Sdy_SubAxisInfo : Sdy_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "A part of an axis: `size` consecutive parts, `pre_size` such groups being more significant.";
  let parameters = (ins "int64_t":$pre_size, "int64_t":$size);
  let assemblyFormat = "`(` $pre_size `)` `` $size";
  let genVerifyDecl = 1;
}

def Sdy_AxisRef : Sdy_Attr<"AxisRef", "axis_ref"> {
  let summary = "An axis of a mesh, or a part of it.";
  let description = "Written as `\"x\"`, or `\"x\":(2)4` for a part.";
  let parameters = (ins StringRefParameter<>:$name, OptionalParameter<"SubAxisInfoAttr">:$sub_axis_info);
  let assemblyFormat = "`` $name (`` `:` `` $sub_axis_info^)?";
}

//===----------------------------------------------------------------------===//
// Lists of axes
//===----------------------------------------------------------------------===//

class Sdy_List<string name, string attrMnemonic, string element, string format> : Sdy_Attr<name, attrMnemonic> {
  let parameters = (ins OptionalArrayRefParameter<element>:$value);
  let assemblyFormat = format;
}

def Sdy_AxisRefList : Sdy_List<"AxisRefList", "axis_ref_list", "AxisRefAttr", "`{` (`}`) : ($value^ `` `}`)?">;
def Sdy_ListOfAxisRefLists
    : Sdy_List<"ListOfAxisRefLists", "list_of_axis_ref_lists", "AxisRefListAttr", "`[` (`]`) : ($value^ `]`)?">;
def Sdy_ManualAxes
    : Sdy_List<"ManualAxes", "manual_axes", "::mlir::StringAttr", "`{` (`}`) : ($value^ `` `}`)?">;

def Sdy_AllToAllParam : Sdy_Attr<"AllToAllParam", "all_to_all_param"> {
  let summary = "Axes that move from one dimension of a tensor to another.";
  let parameters = (ins ArrayRefParameter<"AxisRefAttr">:$axes, "int64_t":$src_dim, "int64_t":$tgt_dim);
  let assemblyFormat = "`` `{` $axes `}` `` `:` $src_dim `` `->` `` $tgt_dim";
}
def Sdy_AllToAllParamList
    : Sdy_List<"AllToAllParamList", "all_to_all_param_list", "AllToAllParamAttr", "`[` (`]`) : ($value^ `]`)?">;

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

def Sdy_DimensionSharding : Sdy_Attr<"DimensionSharding", "dimension_sharding"> {
  let summary = "The axes that split a dimension, from the most significant to the least.";
  let description = [{
    A closed dimension is split by these axes and no others; an open one, marked by `?`, may be split further. A
    priority orders propagation. Written as `{"x", "y", ?}p1`.
  }];
  let parameters = (ins OptionalArrayRefParameter<"AxisRefAttr">:$axes, "bool":$is_closed,
                        OptionalParameter<"std::optional<int64_t>">:$priority);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Sdy_TensorSharding : Sdy_Attr<"TensorSharding", "sharding"> {
  let summary = "The sharding of a tensor over a mesh.";
  let description = "The mesh is a symbol or written out; then come the dimensions, axes that hold copies, and axes that "
                    "hold partial values to be combined: "
                    "`#sdy.sharding<@mesh, [{\"x\"}, {?}], replicated={\"y\"}, unreduced={\"z\"}>`.";
  let parameters = (ins "::mlir::Attribute":$mesh_or_ref,
                        OptionalArrayRefParameter<"DimensionShardingAttr">:$dim_shardings,
                        OptionalArrayRefParameter<"AxisRefAttr">:$replicated_axes,
                        OptionalArrayRefParameter<"AxisRefAttr">:$unreduced_axes,
                        DefaultValuedParameter<"::mlir::sdy::ReductionOp", "::mlir::sdy::ReductionOp::SUM">:$reduction_op);
  let assemblyFormat = [{
    `<` custom<MeshOrRef>($mesh_or_ref) `,` `[` (`]`) : ($dim_shardings^ `]`)? ``
    custom<ReplicatedAndUnreducedAxes>($replicated_axes, $unreduced_axes, $reduction_op) `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The mesh itself, or the one that the symbol refers to near `op`; null if there is none.
    MeshAttr getMesh(::mlir::Operation *op) const;
  }];
}

def Sdy_TensorShardingPerValue : Sdy_Attr<"TensorShardingPerValue", "sharding_per_value"> {
  let summary = "A sharding for each operand or result of an op.";
  let parameters = (ins OptionalArrayRefParameter<"TensorShardingAttr">:$shardings);
  let assemblyFormat = "`<` `[` (`]`) : ($shardings^ `]`)? `>`";
}

//===----------------------------------------------------------------------===//
// Sharding rules
//===----------------------------------------------------------------------===//

def Sdy_DimMapping : Sdy_Attr<"DimMapping", "dim_mapping"> {
  let summary = "The factors whose product is the size of a dimension, the last varying fastest.";
  let description = "Factors are numbered 0 to 17 by the letters i to z, and on by z_1, z_2, ...: `ij` is (0, 1).";
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$factor_indices);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Sdy_TensorMapping : Sdy_Attr<"TensorMapping", "tensor_mapping"> {
  let summary = "The factors of each dimension of a tensor.";
  let parameters = (ins OptionalArrayRefParameter<"DimMappingAttr">:$dim_mappings);
  let assemblyFormat = "`` `[` (`]`) : ($dim_mappings^ `]`)? ``";
}

def Sdy_OpShardingRule : Sdy_Attr<"OpShardingRule", "op_sharding_rule"> {
  let summary = "The dimensions of the operands and results of an op that are split together.";
  let description = "`#sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=6, j=4, k=10} reduction={k}>` is a matmul.";
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$factor_sizes,
                        OptionalArrayRefParameter<"TensorMappingAttr">:$operand_mappings,
                        OptionalArrayRefParameter<"TensorMappingAttr">:$result_mappings,
                        OptionalArrayRefParameter<"int64_t">:$reduction_factors,
                        OptionalArrayRefParameter<"int64_t">:$need_replication_factors,
                        OptionalArrayRefParameter<"int64_t">:$permutation_factors,
                        OptionalArrayRefParameter<"int64_t">:$blocked_propagation_factors,
                        DefaultValuedParameter<"bool", "false">:$is_custom_rule);
  let assemblyFormat = [{
    `<` custom<TensorMappings>($operand_mappings) `` `->` `` custom<TensorMappings>($result_mappings) ``
    custom<FactorSizes>($factor_sizes) ``
    custom<FactorsWithType>($reduction_factors, "\"reduction\"") ``
    custom<FactorsWithType>($need_replication_factors, "\"need_replication\"") ``
    custom<FactorsWithType>($permutation_factors, "\"permutation\"") ``
    custom<FactorsWithType>($blocked_propagation_factors, "\"blocked_propagation\"") ``
    custom<IsCustomRule>($is_custom_rule) `>`
  }];
  let genVerifyDecl = 1;
}

#endif // TTMLIR_DIALECT_SDY_IR_SDYATTRS_TD
