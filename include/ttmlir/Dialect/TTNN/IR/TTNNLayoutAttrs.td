//===- TTNNLayoutAttrs.td - layout and memory attributes of TTNN -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTNN_IR_TTNNLAYOUTATTRS_TD
#define TTMLIR_DIALECT_TTNN_IR_TTNNLAYOUTATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/TensorEncoding.td"
include "ttmlir/Dialect/TTNN/IR/TTNNBase.td"
include "ttmlir/Dialect/TTNN/IR/TTNNEnums.td"

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

def TTNN_BufferTypeAttr : TTNN_EnumAttr<TTNN_BufferType, "buffer_type">;
def TTNN_LayoutAttr : TTNN_EnumAttr<TTNN_Layout, "layout">;
def TTNN_ShardDistributionStrategyAttr : TTNN_EnumAttr<TTNN_ShardDistributionStrategy, "shard_distribution_strategy">;
def TTNN_ShardOrientationAttr : TTNN_EnumAttr<TTNN_ShardOrientation, "shard_orientation">;
def TTNN_TensorMemoryLayoutAttr : TTNN_EnumAttr<TTNN_TensorMemoryLayout, "tensor_memory_layout">;

//===----------------------------------------------------------------------===//
// Shapes and cores
//===----------------------------------------------------------------------===//

def TTNN_ShapeAttr : TTNN_Attr<"Shape", "shape"> {
  let summary = "A tensor shape.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape);
  let assemblyFormat = "`<` custom<DimensionList>($shape) `>`";
}

def TTNN_CoreCoordAttr : TTNN_Attr<"CoreCoord", "core_coord"> {
  let summary = "A core by x and y.";
  let parameters = (ins TTNN_UInt64:$x, TTNN_UInt64:$y);
  let assemblyFormat = "`<` params `>`";
}

def TTNN_CoreRangeAttr : TTNN_Attr<"CoreRange", "core_range"> {
  let summary = "A rectangle of cores, both corners included.";
  let parameters = (ins "CoreCoordAttr":$start_coord, "CoreCoordAttr":$end_coord);
  let assemblyFormat = "`<` custom<CoordBracketStyle>($start_coord) `,` custom<CoordBracketStyle>($end_coord) `>`";
  let genVerifyDecl = 1;
}

def TTNN_CoreRangeSetAttr : TTNN_Attr<"CoreRangeSet", "core_range_set"> {
  let summary = "Rectangles of cores that do not overlap.";
  let parameters = (ins OptionalArrayRefParameter<"CoreRangeAttr">:$core_ranges);
  let assemblyFormat = "`<` (`[` qualified($core_ranges)^ `]`)? `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def TTNN_ShardSpecAttr : TTNN_Attr<"ShardSpec", "shard_spec"> {
  let summary = "Shards of a tensor collapsed to two dimensions.";
  let parameters = (ins "CoreRangeSetAttr":$coreRangeSet, "ShapeAttr":$shape, "ShardOrientationAttr":$shardOrientation);
  let assemblyFormat = "`<` params `>`";
}

def TTNN_NDShardSpecAttr : TTNN_Attr<"NDShardSpec", "nd_shard_spec"> {
  let summary = "Shards of any rank.";
  let parameters = (ins "CoreRangeSetAttr":$coreRangeSet, "ShapeAttr":$shape, "ShardOrientationAttr":$shardOrientation,
                        "ShardDistributionStrategyAttr":$shardDistributionStrategy);
  let assemblyFormat = "`<` params `>`";
}

def TTNN_MemoryConfigAttr : TTNN_Attr<"MemoryConfig", "memory_config"> {
  let summary = "The memory and the sharding of a tensor.";
  let parameters = (ins OptionalParameter<"TensorMemoryLayoutAttr">:$tensorMemoryLayout, "BufferTypeAttr":$bufferType,
                        OptionalParameter<"std::optional<ShardSpecAttr>">:$shardSpec,
                        OptionalParameter<"std::optional<NDShardSpecAttr>">:$ndShardSpec);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the memory config of a tensor's layout.
    static MemoryConfigAttr of(TTNNLayoutAttr layout);
    BufferType getBuffer() const { return getBufferType().getValue(); }
  }];
}

def TTNN_TTNNLayoutAttr : TTNN_Attr<"TTNNLayout", "ttnn_layout",
                                    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "The layout of a tensor in memory.";
  let description = [{
    `linear` collapses the tensor's dimensions to a matrix; `grid_shape` is the grid of cores its shards lie on; `memref`
    is one shard: tiles of a data format, or rows of values, in a memory. The rows of a tiled tensor are collapsed after
    its second-last dimension was padded to the tile:

    ```mlir
    // tensor<2x3x64x64xf32> in DRAM, interleaved over the banks
    #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 192 + d1 * 64 + d2, d3), <1x1>,
                      memref<12x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
    ```

    `mesh` names the mesh over which the tensor is distributed; the shape is then that of one device.
  }];
  let parameters = (ins "AffineMap":$linear, ArrayRefParameter<"int64_t">:$grid_shape, "MemRefType":$memref,
                        OptionalParameter<"TensorMemoryLayoutAttr">:$mem_layout,
                        OptionalParameter<"::mlir::tt::ttcore::TensorMeshAttr">:$tensor_mesh,
                        OptionalParameter<"bool">:$ignorePhysicalLayout,
                        OptionalParameter<"CoreRangeSetAttr">:$core_range_set);
  let assemblyFormat = [{
    `<` $linear`,` `<` custom<DimensionList>($grid_shape) `>` `,` (`mesh` `=` $tensor_mesh^ `,`)? $memref
    (`,` $mem_layout^)? (`,` `core_ranges` `=` $core_range_set^)?
    (`,` `ignorePhysicalLayout` `=` $ignorePhysicalLayout^)? `>`
  }];
  let genVerifyDecl = 1;
  let builders = [
    // An interleaved or host layout of a tensor; `dataType` may be a block format only with tiles.
    AttrBuilder<(ins "ArrayRef<int64_t>":$tensorShape, "::mlir::tt::ttcore::DataType":$dataType, "Layout":$layout,
                     "BufferType":$buffer, CArg<"::mlir::tt::ttcore::TensorMeshAttr", "{}">:$mesh)>
  ];
  let extraClassDeclaration = [{
    /// The layout of a ranked tensor type, or null.
    static TTNNLayoutAttr of(Type type);

    ::mlir::tt::ttcore::DataType getDataType() const;
    Layout getLayout() const;
    bool isTiled() const;
    BufferType getBufferType() const;
    bool isOnDevice() const { return getBufferType() != BufferType::SystemMemory; }
    bool isSharded() const;
    /// Returns the shape of one shard, in elements: a multiple of the tile if tiled.
    SmallVector<int64_t> getShardShape() const;
    /// Bytes of one shard, including padding and shared exponents.
    uint64_t getShardBytes() const;

    /// This layout with one property changed, for a tensor of `tensorShape`. A change of format or order keeps grid and
    /// memory; a change of memory returns an interleaved layout.
    TTNNLayoutAttr withDataType(::mlir::tt::ttcore::DataType dataType) const;
    TTNNLayoutAttr withLayout(ArrayRef<int64_t> tensorShape, Layout layout) const;
    TTNNLayoutAttr withBufferType(ArrayRef<int64_t> tensorShape, BufferType buffer) const;
    TTNNLayoutAttr withShape(ArrayRef<int64_t> tensorShape) const;
    TTNNLayoutAttr withMesh(::mlir::tt::ttcore::TensorMeshAttr mesh) const;
  }];
}

def TTNN_TTNNNDLayoutAttr : TTNN_Attr<"TTNNNDLayout", "ttnn_nd_layout"> {
  let summary = "The layout in memory of a tensor that is sharded in all its dimensions.";
  let parameters = (ins "::mlir::tt::ttcore::GridAttr":$grid, "MemRefType":$memref,
                        "TensorMemoryLayoutAttr":$mem_layout,
                        OptionalParameter<"ShardOrientationAttr">:$shard_orientation,
                        OptionalParameter<"ShardDistributionStrategyAttr">:$shard_distribution_strategy);
  let assemblyFormat = [{
    `<` $grid`,` $memref `,` $mem_layout (`,` $shard_orientation^ )? (`,` $shard_distribution_strategy^ )? `>`
  }];
}

def TTNN_TraceIdAttr : TTNN_Attr<"TraceId", "trace_id"> {
  let summary = "Encoding of the tensor that names a captured trace.";
  let assemblyFormat = "";
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

def TTNN_MeshShapeAttr : TTNN_Attr<"MeshShape", "mesh_shape"> {
  let summary = "Rows and columns of a mesh.";
  let parameters = (ins "int64_t":$y, "int64_t":$x);
  let assemblyFormat = "custom<VargDimensionList>($y, $x)";
}

def TTNN_MeshOffsetAttr : TTNN_Attr<"MeshOffset", "mesh_offset"> {
  let summary = "First device of a mesh within the system.";
  let parameters = (ins "int64_t":$y, "int64_t":$x);
  let assemblyFormat = "custom<VargDimensionList>($y, $x)";
}

def TTNN_PlacementAttr : TTNN_Attr<"Placement", "placement"> {
  let summary = "The distribution of a tensor along one mesh axis.";
  let parameters = (ins EnumParameter<TTNN_PlacementType>:$type, OptionalParameter<"IntegerAttr">:$dim);
  let assemblyFormat = "`<` $type (`,` $dim^)? `>`";
}

def TTNN_MeshMapperConfigAttr : TTNN_Attr<"MeshMapperConfig", "mesh_mapper_config"> {
  let summary = "The distribution of a tensor along each mesh axis.";
  let parameters = (ins ArrayRefParameter<"PlacementAttr">:$placements,
                        OptionalArrayRefParameter<"IntegerAttr">:$mesh_shape_override);
  let assemblyFormat = [{
    `<` `placements` `=` `[` $placements `]` (`,` `mesh_shape_override` `=` `[` $mesh_shape_override^ `]`)? `>`
  }];
}

def TTNN_MeshComposerConfigAttr : TTNN_Attr<"MeshComposerConfig", "mesh_composer_config"> {
  let summary = "Dimensions along which the shards of a mesh are joined.";
  let parameters = (ins ArrayRefParameter<"IntegerAttr">:$dims,
                        OptionalArrayRefParameter<"IntegerAttr">:$mesh_shape_override);
  let assemblyFormat = [{
    `<` `dims` `=` `[` $dims `]` (`,` `mesh_shape_override` `=` `[` $mesh_shape_override^ `]`)? `>`
  }];
}

#endif // TTMLIR_DIALECT_TTNN_IR_TTNNLAYOUTATTRS_TD
