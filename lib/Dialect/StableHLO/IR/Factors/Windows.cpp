//===- Windows.cpp - what parts of a dimension need of others -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/IR/Windows.h"

#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;
namespace hlo = mlir::stablehlo;
using namespace mlir::stablehlo;

static int64_t entry(std::optional<ArrayRef<int64_t>> values, int64_t dim) { return values ? (*values)[dim] : 1; }

static SmallVector<int64_t> paddings(std::optional<DenseIntElementsAttr> padding, int64_t rank) {
  return padding ? llvm::to_vector(padding->getValues<int64_t>()) : SmallVector<int64_t>(2 * rank, 0);
}

static RankedTensorType typeOf(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

static SmallVector<WindowedDim, 2> windowsOf(hlo::ConvolutionOp op) {
  SmallVector<WindowedDim, 2> dims;
  auto numbers = op.getDimensionNumbers();
  SmallVector<int64_t> pads = paddings(op.getPadding(), numbers.getInputSpatialDimensions().size());
  for (auto [at, operand] : llvm::enumerate(numbers.getInputSpatialDimensions())) {
    const auto i = static_cast<int64_t>(at);
    const int64_t kernelDim = numbers.getKernelSpatialDimensions()[i], outDim = numbers.getOutputSpatialDimensions()[i];
    const int64_t kernel = typeOf(op.getRhs()).getDimSize(kernelDim), out = typeOf(op.getResult()).getDimSize(outDim);
    const int64_t stride = entry(op.getWindowStrides(), i), gap = entry(op.getRhsDilation(), i),
                  dilation = entry(op.getLhsDilation(), i);
    // The longer of the two is worth splitting.
    if (out >= kernel)
      dims.push_back({operand, outDim, stride, pads[2 * i], (kernel - 1) * gap + 1, dilation});
    else
      dims.push_back({operand, kernelDim, gap, pads[2 * i], (out - 1) * stride + 1, dilation, WindowKind::Contraction});
  }
  return dims;
}

static SmallVector<WindowedDim, 2> windowsOf(hlo::ReduceWindowOp op) {
  SmallVector<WindowedDim, 2> dims;
  const auto rank = static_cast<int64_t>(op.getWindowDimensions().size());
  SmallVector<int64_t> pads = paddings(op.getPadding(), rank);
  for (int64_t dim = 0; dim < rank; ++dim) {
    const int64_t window = op.getWindowDimensions()[dim], stride = entry(op.getWindowStrides(), dim);
    if (entry(op.getBaseDilations(), dim) == 1 && (window != 1 || stride != 1 || pads[2 * dim] || pads[2 * dim + 1]))
      dims.push_back({dim, dim, stride, pads[2 * dim], (window - 1) * entry(op.getWindowDilations(), dim) + 1});
  }
  return dims;
}

static SmallVector<WindowedDim, 2> windowsOf(hlo::PadOp op) {
  SmallVector<WindowedDim, 2> dims;
  for (auto [dim, low, high, between] :
       llvm::enumerate(op.getEdgePaddingLow(), op.getEdgePaddingHigh(), op.getInteriorPadding()))
    if (between == 0 && (low != 0 || high != 0)) {
      const auto at = static_cast<int64_t>(dim);
      dims.push_back({at, at, 1, low, 1, 1, WindowKind::Movement});
    }
  return dims;
}

static SmallVector<WindowedDim, 2> windowsOf(hlo::SliceOp op) {
  SmallVector<WindowedDim, 2> dims;
  for (auto [dim, start, limit, stride, size] :
       llvm::enumerate(op.getStartIndices(), op.getLimitIndices(), op.getStrides(), typeOf(op.getOperand()).getShape()))
    if (start != 0 || limit != size || stride != 1) {
      const auto at = static_cast<int64_t>(dim);
      dims.push_back({at, at, stride, -start, 1, 1, WindowKind::Movement});
    }
  return dims;
}

static SmallVector<WindowedDim, 2> windowsOf(hlo::ReverseOp op) {
  SmallVector<WindowedDim, 2> dims;
  for (int64_t dim : op.getDimensions())
    dims.push_back({dim, dim, 1, 0, 1, 1, WindowKind::Mirror});
  return dims;
}

static SmallVector<WindowedDim, 2> windowsOf(hlo::ConcatenateOp op) {
  const auto dim = static_cast<int64_t>(op.getDimension());
  int64_t common = 0;
  for (Value input : op.getInputs())
    common = std::gcd(common, typeOf(input).getDimSize(dim));
  if (common < 2)
    return {};
  return {{dim, dim, 1, 0, 1, 1, WindowKind::Joint}};
}

SmallVector<WindowedDim, 2> stablehlo::getWindowedDims(Operation *op) {
  // Padding needs a zero of the type.
  for (Value value : op->getOperands())
    if (auto type = typeOf(value); !type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
      return {};
  for (Value value : op->getResults())
    if (auto type = typeOf(value); !type || !type.hasStaticShape())
      return {};
  return TypeSwitch<Operation *, SmallVector<WindowedDim, 2>>(op)
      .Case<hlo::ConvolutionOp, hlo::ReduceWindowOp, hlo::PadOp, hlo::SliceOp, hlo::ReverseOp, hlo::ConcatenateOp>(
          [](auto op) { return windowsOf(op); })
      .Default({});
}

unsigned stablehlo::getNumWindowedOperands(Operation *op) {
  if (getWindowedDims(op).empty())
    return 0;
  return isa<hlo::ConcatenateOp>(op) ? op->getNumOperands() : op->getNumResults();
}

static int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0); }

namespace {
/// The operand, the part of it and the position in the part of an element of a result.
struct Source {
  unsigned operand;
  int64_t part, first;
  int64_t run; // results from here on that take consecutive elements of this part
};

/// The parts of operands that results of a slice or a concatenation consist of.
class Sources {
public:
  Sources(Operation *op, const WindowedDim &dim, int64_t parts) : stride(dim.stride), start(-dim.low) {
    for (Value operand : op->getOperands()) {
      const int64_t size = typeOf(operand).getDimSize(dim.operand);
      isDivided &= size % parts == 0;
      held.push_back(size / parts);
      ends.push_back((ends.empty() ? 0 : ends.back()) + size);
    }
  }
  Source at(int64_t result) const {
    const int64_t position = start + result * stride;
    const unsigned operand = llvm::upper_bound(ends, position) - ends.begin();
    const int64_t inside = position - (operand ? ends[operand - 1] : 0), first = inside % held[operand];
    return {operand, inside / held[operand], first, (held[operand] - first + stride - 1) / stride};
  }

  bool isDivided = true;
  SmallVector<int64_t> held; // elements of a part of each operand

private:
  int64_t stride, start;
  SmallVector<int64_t> ends;
};
} // namespace

/// Adds the move of an element to those of others that take the same elements of their parts.
static void addMove(SmallVectorImpl<Segment::Move> &moves, const Source &source, int64_t part) {
  auto *found = llvm::find_if(moves, [&](const Segment::Move &move) {
    return move.operand == source.operand && move.first == source.first &&
           llvm::none_of(move.parts, [&](auto pair) { return pair.first == source.part; });
  });
  Segment::Move &move =
      found == moves.end() ? moves.emplace_back(Segment::Move{source.operand, source.first, {}}) : *found;
  move.parts.emplace_back(source.part, part);
}

/// The parts of which each part of a slice or a concatenation consists, if sending these takes half the data of a
/// gather and few messages.
static std::optional<Footprint> getSegments(Operation *op, const WindowedDim &dim, int64_t parts) {
  const int64_t resultSize = typeOf(op->getResult(0)).getDimSize(dim.result);
  const Sources sources(op, dim, parts);
  if (parts < 2 || resultSize == 0 || resultSize % parts != 0 || !sources.isDivided)
    return std::nullopt;
  const int64_t computed = resultSize / parts;
  SmallVector<int64_t> bounds;
  for (int64_t part = 0; part < parts; ++part)
    for (int64_t at = 0; at < computed; at += sources.at(part * computed + at).run)
      bounds.push_back(at);
  llvm::sort(bounds);
  bounds.erase(llvm::unique(bounds), bounds.end());
  Footprint print = {{}, computed, 0, 0, 0, 0, {}};
  SmallVector<int64_t> received(parts, 0);
  int64_t messages = 0;
  for (auto [index, from] : llvm::enumerate(bounds)) {
    Segment &segment = print.segments.emplace_back();
    segment.size = (index + 1 < bounds.size() ? bounds[index + 1] : computed) - from;
    for (int64_t part = 0; part < parts; ++part) {
      const Source source = sources.at(part * computed + from);
      addMove(segment.moves, source, part);
      received[part] += source.part == part ? 0 : segment.size;
    }
    messages += llvm::count_if(segment.moves, [](const Segment::Move &move) { return !move.isLocal(); });
  }
  // A value is gathered once.
  int64_t gathered = 0;
  llvm::SmallDenseSet<Value> values;
  for (auto [operand, held] : llvm::zip_equal(op->getOperands(), sources.held))
    gathered += values.insert(operand).second ? (parts - 1) * held : 0;
  if (2 * *llvm::max_element(received) > gathered || messages > std::max<int64_t>(parts, 4))
    return std::nullopt;
  return print;
}

std::optional<Footprint> stablehlo::getFootprint(Operation *op, const WindowedDim &dim, int64_t parts) {
  if (dim.kind == WindowKind::Joint)
    return getSegments(op, dim, parts);
  const Value other = dim.kind == WindowKind::Contraction ? op->getOperand(1) : op->getResult(0);
  const int64_t operandSize = typeOf(op->getOperand(0)).getDimSize(dim.operand),
                resultSize = typeOf(other).getDimSize(dim.result);
  if (parts < 2 || operandSize == 0 || resultSize == 0 || operandSize % parts != 0 || resultSize % parts != 0)
    return std::nullopt;
  const int64_t held = operandSize / parts, computed = resultSize / parts;
  if (dim.kind == WindowKind::Mirror) {
    Footprint own = {{}, held, 0, 0, 0, 0};
    for (int64_t part = 0; part < parts; ++part)
      own.starts.push_back(part * held);
    return own;
  }
  Footprint print;
  for (int64_t part = 0; part < parts; ++part) {
    // Positions of the dilated operand, from the first to the last one that the part reads.
    const int64_t first = part * computed * dim.stride - dim.low,
                  last = first + (computed - 1) * dim.stride + dim.extent - 1;
    const int64_t start = -floorDiv(-first, dim.dilation), end = floorDiv(last, dim.dilation) + 1;
    const int64_t low = start * dim.dilation - first, high = last - (end - 1) * dim.dilation;
    if (part == 0)
      print = {{}, end - start, low, high, -start, end - held};
    // All devices run the same program.
    if (end - start != print.size || low != print.low || high != print.high || print.size < 1)
      return std::nullopt;
    print.starts.push_back(start);
    print.before = std::max(print.before, part * held - start);
    print.after = std::max(print.after, end - (part + 1) * held);
  }
  const bool isNear = print.before <= held && print.after <= held;
  if (dim.kind != WindowKind::Movement)
    return isNear ? std::optional(print) : std::nullopt;
  if (isNear && std::max<int64_t>(print.before, 0) + std::max<int64_t>(print.after, 0) <= held / 2)
    return print;
  return isa<hlo::SliceOp>(op) ? getSegments(op, dim, parts) : std::nullopt;
}

bool stablehlo::isCutByWindows(hlo::SelectAndScatterOp op, int64_t dim) {
  const int64_t window = entry(op.getWindowDimensions(), dim), stride = entry(op.getWindowStrides(), dim),
                size = typeOf(op.getOperand()).getDimSize(dim), windows = typeOf(op.getSource()).getDimSize(dim);
  SmallVector<int64_t> pads = paddings(op.getPadding(), typeOf(op.getOperand()).getRank());
  return window <= stride && windows > 0 && windows * stride == size && !pads[2 * dim] && !pads[2 * dim + 1];
}

bool stablehlo::mayExchangeEdges(Operation *op, int64_t operandDim) {
  for (const WindowedDim &dim : getWindowedDims(op))
    if (dim.operand == operandDim)
      return getFootprint(op, dim, 2).has_value();
  return false;
}
