//===- TensorBuffers.cpp - buffers that are tensors of TTNN ---------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A tensor in DRAM has its tiles in the channels in turn, as a buffer has the parts of cores there. It is a buffer of
// which every tile is a part of its own, and what generics take for the parts of their cores is a view of it.
//
//===----------------------------------------------------------------------===//

#include "TensorBuffers.h"

#include "DramBuffers.h"

#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ToLayoutOp.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::d2m;

/// Whether the tiles of a tensor are pages of DRAM.
static bool hasPages(Type type) {
  auto layout = ttnn::TTNNLayoutAttr::of(type);
  return layout && layout.getBufferType() == ttnn::BufferType::DRAM && !layout.isSharded() && layout.isTiled() &&
         layout.getMemref().getRank() == 2 && cast<RankedTensorType>(type).getNumElements() != 0;
}

/// Whether two tensors have the same elements in other places.
static bool areCopies(Type a, Type b) {
  auto from = dyn_cast<RankedTensorType>(a), to = dyn_cast<RankedTensorType>(b);
  ttnn::TTNNLayoutAttr here = ttnn::TTNNLayoutAttr::of(a), there = ttnn::TTNNLayoutAttr::of(b);
  return from && to && here && there && here.getDataType() == there.getDataType() && from.getShape() == to.getShape() &&
         from.getElementType() == to.getElementType();
}

/// Whether a buffer in L1 has tiles of the type of a tensor's.
static bool hasTilesOf(Value buffer, Type tensor) {
  auto described = ttmetal::DeviceBuffer::of(buffer.getType());
  return described && liesIn(buffer.getType(), ttcore::MemorySpace::DeviceL1) &&
         isa<ttcore::TileType>(described->element) &&
         described->dataType() == ttnn::TTNNLayoutAttr::of(tensor).getDataType();
}

/// The tiles of a tensor in DRAM.
static MemRefType pagesOf(Type tensor, Type tile) {
  ArrayRef<int64_t> tiles = ttnn::TTNNLayoutAttr::of(tensor).getMemref().getShape();
  const int64_t one[] = {1, 1};
  return ttmetal::DeviceBuffer{tiles, one, tile}.in(ttcore::MemorySpace::DeviceDRAM);
}

/// Pages as the parts of cores that a buffer in L1 has. There may be more tiles in these, of padding, than pages.
static Value createView(OpBuilder &builder, Location loc, Value pages, MemRefType parts) {
  MLIRContext *context = builder.getContext();
  SmallVector<AffineExpr> places;
  for (unsigned dim : {0, 1})
    places.push_back(getAffineDimExpr(dim, context) * parts.getDimSize(dim + 2) + getAffineDimExpr(dim + 2, context));
  places.append(2, getAffineConstantExpr(0, context));
  return ViewLayoutOp::create(builder, loc, parts, pages, AffineMap::get(4, 0, places, context));
}

/// Whether generics take a buffer block by block, or nothing but views of it.
static bool isStreamable(Value buffer) {
  return canLieInDram(buffer) && llvm::all_of(buffer.getUsers(), [](Operation *user) {
           auto generic = dyn_cast<GenericOp>(user);
           return generic ? generic.threadOf(generic.getRegion(0)).getThreadType() == ThreadType::Unified
                          : isa<ViewLayoutOp, ttir::TTNNMetalLayoutCastOp>(user);
         });
}

bool d2m::readFromPages(ttir::TTNNMetalLayoutCastOp cast, bool moves, uint64_t blockBytes) {
  auto copy = cast.getInput().getDefiningOp<ttnn::ToLayoutOp>();
  auto parts = dyn_cast<MemRefType>(cast.getType());
  if (!copy || !parts || !areCopies(copy.getInput().getType(), copy.getType()) ||
      !hasTilesOf(cast.getResult(), copy.getType()) || !isStreamable(cast.getResult()) ||
      llvm::any_of(cast->getUsers(), llvm::IsaPred<ttir::TTNNMetalLayoutCastOp>))
    return false;
  auto type = llvm::cast<RankedTensorType>(copy.getType());
  Value source = copy.getInput();
  OpBuilder builder(cast);
  if (!hasPages(source.getType())) {
    if (!moves || type.getNumElements() == 0)
      return false;
    ttnn::TTNNLayoutAttr layout = ttnn::TTNNLayoutAttr::of(type);
    source = ttnn::ToLayoutOp::create(
        builder, copy.getLoc(),
        RankedTensorType::get(type.getShape(), type.getElementType(),
                              ttnn::TTNNLayoutAttr::get(type.getContext(), type.getShape(), layout.getDataType(),
                                                        ttnn::Layout::Tile, ttnn::BufferType::DRAM,
                                                        layout.getTensorMesh())),
        source);
  }
  Value pages =
      ttir::TTNNMetalLayoutCastOp::create(builder, cast.getLoc(), pagesOf(source.getType(), parts.getElementType()),
                                          source, AffineMapAttr(), AffineMapAttr());
  Value view = createView(builder, cast.getLoc(), pages, parts);
  cast.getResult().replaceAllUsesWith(view);
  cast.erase();
  if (copy->use_empty())
    copy.erase();
  streamBuffer(view, blockBytes);
  return true;
}

ttir::TTNNMetalLayoutCastOp d2m::castToPages(memref::AllocOp alloc) {
  ttir::TTNNMetalLayoutCastOp found;
  for (Operation *user : alloc->getUsers())
    if (auto cast = dyn_cast<ttir::TTNNMetalLayoutCastOp>(user)) {
      if (found)
        return {};
      found = cast;
    }
  const auto leaves = [&](Operation *user) {
    auto copy = dyn_cast<ttnn::ToLayoutOp>(user);
    return copy && hasPages(copy.getType()) && areCopies(found.getType(), copy.getType()) &&
           hasTilesOf(alloc.getResult(), copy.getType()) &&
           copy.getType() == found->user_begin()->getResult(0).getType();
  };
  return found && !found->use_empty() && llvm::all_of(found->getUsers(), leaves) && isStreamable(alloc.getResult())
             ? found
             : ttir::TTNNMetalLayoutCastOp();
}

void d2m::writeToPages(memref::AllocOp alloc, ttir::TTNNMetalLayoutCastOp cast, uint64_t blockBytes) {
  MemRefType parts = alloc.getType();
  Type tensor = cast->user_begin()->getResult(0).getType();
  OpBuilder builder(alloc);
  Value pages = memref::AllocOp::create(builder, alloc.getLoc(), pagesOf(tensor, parts.getElementType()));
  Value view = createView(builder, alloc.getLoc(), pages, parts);
  builder.setInsertionPoint(cast);
  Value written =
      ttir::TTNNMetalLayoutCastOp::create(builder, cast.getLoc(), tensor, pages, AffineMapAttr(), AffineMapAttr());
  for (Operation *copy : llvm::make_early_inc_range(cast->getUsers())) {
    copy->getResult(0).replaceAllUsesWith(written);
    copy->erase();
  }
  cast.erase();
  alloc.getResult().replaceAllUsesWith(view);
  alloc.erase();
  streamBuffer(view, blockBytes);
}

uint64_t d2m::l1BytesOf(Type tensor, uint64_t cores) {
  auto layout = ttnn::TTNNLayoutAttr::of(tensor);
  if (!layout || layout.getBufferType() != ttnn::BufferType::L1)
    return 0;
  constexpr uint64_t page = 4096; // of interleaved ones, at most
  return layout.isSharded() ? layout.getShardBytes() : layout.getShardBytes() / cores + page;
}
