//===- FusingMatmul.cpp - fusion around matrix products -------------------===//

#include "Fusing.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

//===----------------------------------------------------------------------===//
// Transposed operands
//===----------------------------------------------------------------------===//

static bool swapsLastTwo(TransposeOp op) {
  int64_t rank = tensorType(op.getInput()).getRank();
  auto positive = [&](int64_t dim) { return dim < 0 ? dim + rank : dim; };
  int64_t first = positive(op.getDim0()), second = positive(op.getDim1());
  return std::min(first, second) == rank - 2 && std::max(first, second) == rank - 1;
}

static bool swapsLastTwo(PermuteOp op) {
  ArrayRef<int64_t> order = op.getPermutation();
  int64_t rank = order.size();
  return rank >= 2 && order[rank - 1] == rank - 2 && order[rank - 2] == rank - 1 &&
         llvm::equal(order.drop_back(2), llvm::seq<int64_t>(rank - 2));
}

/// The matrices that `value` is the transposes of, or null.
static Value transposed(Value value, Fuser &fuser) {
  Value source;
  if (auto transpose = fuser.passed<TransposeOp>(value); transpose && swapsLastTwo(transpose))
    source = transpose.getInput();
  else if (auto permute = fuser.passed<PermuteOp>(value);
           permute && fuser.options.permuteMatmulEnabled && swapsLastTwo(permute))
    source = permute.getInput();
  return source && tensorType(source).getElementType() == tensorType(value).getElementType() ? source : Value();
}

/// The flag of the product says what a transposition before it did. The op stays, so others may fuse it further.
static LogicalResult fuseTransposes(Operation *product, Fuser &fuser) {
  constexpr StringRef flags[] = {"transpose_a", "transpose_b"};
  for (auto [index, flag] : llvm::enumerate(flags))
    while (Value source = transposed(product->getOperand(index), fuser)) {
      bool before = product->getAttrOfType<BoolAttr>(flag).getValue();
      product->setAttr(flag, fuser.attributes().getBoolAttr(!before));
      fuser.redirect(product->getOpOperand(index), source);
    }
  return failure();
}

//===----------------------------------------------------------------------===//
// dot_general
//===----------------------------------------------------------------------===//

/// Whether a side of a product is matrices, one for each index of leading batch dimensions; `contracted` is then the
/// dimension that is summed over, counted from the first dimension of the matrices.
static bool areMatrices(ArrayRef<int64_t> batch, ArrayRef<int64_t> contracting, int64_t rank, int64_t &contracted) {
  if (contracting.size() != 1 || rank != static_cast<int64_t>(batch.size()) + 2 ||
      !llvm::equal(batch, llvm::seq<int64_t>(batch.size())))
    return false;
  contracted = contracting[0] - batch.size();
  return true;
}

/// A product of matrices, or of rows of any number of dimensions with one matrix, is a matmul.
static LogicalResult fuseDotGeneral(Operation *root, Fuser &fuser) {
  auto op = cast<DotGeneralOp>(root);
  int64_t lhsRank = tensorType(op.getLhs()).getRank(), rhsRank = tensorType(op.getRhs()).getRank();
  int64_t fromA = 0, fromB = 0;
  if (!areMatrices(op.getBatchDimsRhs(), op.getContractDimsRhs(), rhsRank, fromB))
    return failure();
  if (!areMatrices(op.getBatchDimsLhs(), op.getContractDimsLhs(), lhsRank, fromA)) {
    ArrayRef<int64_t> contracting = op.getContractDimsLhs();
    if (!op.getBatchDimsLhs().empty() || lhsRank < 2 || contracting.size() != 1 || contracting[0] != lhsRank - 1)
      return failure();
    fromA = 1;
  }
  return fuser.replace(root, "matmul", root->getOperands(),
                       {fuser.attr("transpose_a", fuser.attributes().getBoolAttr(fromA == 0)),
                        fuser.attr("transpose_b", fuser.attributes().getBoolAttr(fromB == 1))});
}

//===----------------------------------------------------------------------===//
// Bias
//===----------------------------------------------------------------------===//

/// The same row added to every row of a result.
static bool isRow(Value value, RankedTensorType result) {
  RankedTensorType type = tensorType(value);
  return type.getRank() >= 1 && type.getRank() <= result.getRank() &&
         type.getShape().back() == result.getShape().back() && !type.getEncoding() &&
         llvm::all_of(type.getShape().drop_back(), [](int64_t size) { return size == 1; });
}

static LogicalResult fuseBias(Operation *add, Fuser &fuser) {
  for (unsigned i : {0, 1}) {
    Value product = add->getOperand(i), bias = add->getOperand(1 - i);
    Operation *op = fuser.only<MatmulOp>(product);
    if (auto linear = fuser.only<LinearOp>(product); linear && !linear.getBias())
      op = linear;
    if (!op || !haveSameType(product, add->getResult(0)) || !isRow(bias, tensorType(product)) ||
        tensorType(op->getOperand(1)).getRank() < 2)
      continue;
    return fuser.replace(
        add, "linear", {op->getOperand(0), op->getOperand(1), bias},
        {fuser.attr("transpose_a", op->getAttr("transpose_a")), fuser.attr("transpose_b", op->getAttr("transpose_b"))});
  }
  return failure();
}

void ttir::addMatmulFusions(Fusions &fusions) {
  fusions["matmul"].push_back(fuseTransposes);
  fusions["linear"].push_back(fuseTransposes);
  fusions["dot_general"].push_back(fuseDotGeneral);
  fusions["add"].push_back(fuseBias);
}
