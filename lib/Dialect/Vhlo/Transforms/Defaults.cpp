//===- Defaults.cpp - what stands for attributes that are not given -------===//
// SPDX-License-Identifier: Apache-2.0

#include "Data.h"

#include "llvm/Support/Endian.h"

using namespace mlir;
using namespace mlir::vhlo;

/// The number of spatial dimensions of a convolution, and of all dimensions of a window.
static std::optional<int64_t> windowRank(Operation *op) {
  if (Attribute window = op->getAttr("window_dimensions")) {
    if (auto array = dyn_cast<DenseI64ArrayAttr>(window))
      return array.size();
    return std::nullopt;
  }
  if (op->getNumOperands() == 0)
    return std::nullopt;
  Type type = op->getOperand(0).getType();
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getRank() - 2;
  auto vhlo = dyn_cast<VhloType>(type);
  if (!vhlo || !vhlo.is("tensor_v1"))
    return std::nullopt;
  Attribute shape = vhlo.fields()[vhlo.fields().size() - 2];
  return static_cast<int64_t>(cast<DenseI64ArrayAttr>(shape).size()) - 2;
}

static Attribute windowDefault(Default value, Operation *op) {
  MLIRContext *context = op->getContext();
  std::optional<int64_t> rank = windowRank(op);
  if (!rank || *rank < 0)
    return {};
  if (value == Default::Ones)
    return makeTensor(context, SmallVector<int64_t>(*rank, 1));
  if (value == Default::Zeros)
    return makeTensor(context, SmallVector<int64_t>(2 * *rank, 0), {*rank, 2});
  auto type = RankedTensorType::get({*rank}, IntegerType::get(context, 1));
  return makeTensor(DenseElementsAttr::get(type, SmallVector<bool>(*rank, false)));
}

Attribute vhlo::defaultOf(const Inherent &inherent, Operation *op) {
  MLIRContext *context = op->getContext();
  switch (inherent.value) {
  case Default::None:
    return {};
  case Default::False:
    return makeBool(context, false);
  case Default::Zero:
    return makeInteger(context, 0);
  case Default::MinusOne:
    return makeInteger(context, -1);
  case Default::EmptyString:
    return makeString(context, "");
  case Default::EmptyArray:
    return makeArray(context, {});
  case Default::EmptyDictionary:
    return VhloAttr::get(context, "dict_v1", {ArrayAttr::get(context, {})});
  case Default::EmptyTensor:
    return makeTensor(context, {});
  case Default::Ones:
  case Default::Zeros:
  case Default::Falses:
    return windowDefault(inherent.value, op);
  case Default::Precision: {
    Attribute precision = makeEnum(context, "precision_v1", "DEFAULT");
    return makeArray(context, {precision, precision});
  }
  case Default::NoType:
    return makeNoType(context);
  case Default::Accuracy:
    return makeDefaultAccuracy(context);
  case Default::NoComparisonType:
    return makeEnum(context, "comparison_type_v1", "NOTYPE");
  case Default::OriginalApi:
    return makeEnum(context, "api_version_v1", "API_VERSION_ORIGINAL");
  case Default::Config: {
    // A typed call is configured by a dictionary.
    constexpr int32_t typedCall = 4;
    auto version = op->getAttrOfType<IntegerAttr>("api_version");
    if (version && version.getInt() == typedCall)
      return VhloAttr::get(context, "dict_v1", {ArrayAttr::get(context, {})});
    return makeString(context, "");
  }
  }
  llvm_unreachable("a default of no kind");
}

/// Whether an attribute is a tensor of these elements, each of which has this value.
static bool holdsOnly(VhloAttr tensor, StringRef element, int64_t value) {
  if (!tensor.is("tensor_v1"))
    return false;
  auto type = dyn_cast<VhloType>(cast<TypeAttr>(tensor.fields()[0]).getValue());
  if (!type || !type.is("tensor_v1"))
    return false;
  auto elements = dyn_cast<VhloType>(cast<TypeAttr>(type.fields().back()).getValue());
  StringRef bytes = cast<StringAttr>(tensor.fields()[1]).getValue();
  if (!elements || !elements.is(element))
    return false;
  if (element == "bool_v1")
    return bytes.find_first_not_of('\0') == StringRef::npos;
  if (bytes.size() % sizeof(value) != 0)
    return false;
  for (; !bytes.empty(); bytes = bytes.drop_front(sizeof(value)))
    if (llvm::support::endian::read64le(bytes.data()) != static_cast<uint64_t>(value))
      return false;
  return true;
}

bool vhlo::isDefault(const Inherent &inherent, Attribute given) {
  auto value = dyn_cast_or_null<VhloAttr>(given);
  if (!value || inherent.value == Default::None)
    return false;
  MLIRContext *context = given.getContext();
  auto isEmpty = [&](StringRef mnemonic) { return value.is(mnemonic) && cast<ArrayAttr>(value.fields()[0]).empty(); };
  switch (inherent.value) {
  case Default::None:
    return false;
  case Default::False:
    return value == makeBool(context, false);
  case Default::Zero:
    return value == makeInteger(context, 0);
  case Default::MinusOne:
    return value == makeInteger(context, -1);
  case Default::EmptyString:
    return value == makeString(context, "");
  case Default::EmptyArray:
    return isEmpty("array_v1");
  case Default::EmptyDictionary:
    return isEmpty("dict_v1");
  case Default::EmptyTensor:
    return holdsOnly(value, "i64_v1", 0) && cast<StringAttr>(value.fields()[1]).getValue().empty();
  case Default::Ones:
    return holdsOnly(value, "i64_v1", 1);
  case Default::Zeros:
    return holdsOnly(value, "i64_v1", 0);
  case Default::Falses:
    return holdsOnly(value, "bool_v1", 0);
  case Default::Precision:
    return value.is("array_v1") && llvm::all_of(cast<ArrayAttr>(value.fields()[0]), [&](Attribute each) {
             return each == makeEnum(context, "precision_v1", "DEFAULT");
           });
  case Default::NoType:
    return value == makeNoType(context);
  case Default::Accuracy:
    return value == makeDefaultAccuracy(context);
  case Default::NoComparisonType:
    return value == makeEnum(context, "comparison_type_v1", "NOTYPE");
  case Default::OriginalApi:
    return value == makeEnum(context, "api_version_v1", "API_VERSION_ORIGINAL");
  case Default::Config:
    return isEmpty("dict_v1") || value == makeString(context, "");
  }
  llvm_unreachable("a default of no kind");
}
