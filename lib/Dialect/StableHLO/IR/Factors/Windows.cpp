//===- Windows.cpp - what parts of a dimension need of others -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/IR/Windows.h"

#include "llvm/ADT/TypeSwitch.h"

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

SmallVector<WindowedDim, 2> stablehlo::getWindowedDims(Operation *op) {
  // Padding needs a zero of the type.
  for (Value value : op->getOperands())
    if (auto type = typeOf(value); !type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
      return {};
  for (Value value : op->getResults())
    if (auto type = typeOf(value); !type || !type.hasStaticShape())
      return {};
  return TypeSwitch<Operation *, SmallVector<WindowedDim, 2>>(op)
      .Case<hlo::ConvolutionOp, hlo::ReduceWindowOp, hlo::PadOp, hlo::SliceOp, hlo::ReverseOp>(
          [](auto op) { return windowsOf(op); })
      .Default({});
}

unsigned stablehlo::getNumWindowedOperands(Operation *op) {
  return getWindowedDims(op).empty() ? 0 : op->getNumResults();
}

static int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0); }

std::optional<Footprint> stablehlo::getFootprint(Operation *op, const WindowedDim &dim, int64_t parts) {
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
  if (print.before > held || print.after > held)
    return std::nullopt;
  if (dim.kind == WindowKind::Movement &&
      std::max<int64_t>(print.before, 0) + std::max<int64_t>(print.after, 0) > held / 2)
    return std::nullopt;
  return print;
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
