//===- Shapes.cpp - ops of the dialects as the shape rules see them -------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/shapes/Shapes.h"
#include "ElementTypes.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tt::shapes;

namespace rules = ::tt::shapes;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

bool mlir::tt::shapes::haveSameShapes(TypeRange a, TypeRange b) {
  return llvm::equal(a, b, [](Type x, Type y) {
    auto shapedX = dyn_cast<ShapedType>(x), shapedY = dyn_cast<ShapedType>(y);
    return shapedX && shapedY && shapedX.hasRank() && shapedY.hasRank() && shapedX.getShape() == shapedY.getShape();
  });
}

bool mlir::tt::shapes::haveSameElementWidth(Value a, Value b) {
  Type typeA = getElementTypeOrSelf(a.getType()), typeB = getElementTypeOrSelf(b.getType());
  return typeA.isIntOrFloat() && typeB.isIntOrFloat() && typeA.getIntOrFloatBitWidth() == typeB.getIntOrFloatBitWidth();
}

//===----------------------------------------------------------------------===//
// Operands by name
//===----------------------------------------------------------------------===//

template <class... Args> static LogicalResult error(const Subject &subject, Args &&...args) {
  return emitOptionalError(subject.location, "'", subject.name, "' op ", std::forward<Args>(args)...);
}

namespace {
/// An operand of the op, which may have zero, one or more values.
struct OperandName {
  StringRef name;
  char kind; // '1', '?' or '*'
};
} // namespace

static SmallVector<OperandName, 8> namesOf(const OpShapes &shapes) {
  SmallVector<OperandName, 8> names;
  for (StringRef rest = shapes.operands; !rest.empty();) {
    StringRef name;
    std::tie(name, rest) = rest.split(' ');
    const char last = name.back();
    const bool marked = last == '?' || last == '*';
    names.push_back({marked ? name.drop_back() : name, marked ? last : '1'});
  }
  return names;
}

LogicalResult mlir::tt::shapes::checkArity(const OpShapes &shapes, const Subject &subject) {
  const SmallVector<OperandName, 8> names = namesOf(shapes);
  const size_t count = subject.operands.size();
  if (subject.segments) {
    if (subject.segments->size() != names.size())
      return error(subject, "has no attribute 'operandSegmentSizes'");
    int64_t sum = 0;
    for (auto [i, size, name] : llvm::enumerate(*subject.segments, names)) {
      if (size < 0 || (name.kind == '1' && size != 1) || (name.kind == '?' && size > 1))
        return error(subject, "attribute 'operandSegmentSizes' gives operand ", i, " ", size, " values; expected ",
                     name.kind == '1'   ? "1"
                     : name.kind == '?' ? "0 or 1"
                                        : "none or more");
      sum += size;
    }
    if (sum != static_cast<int64_t>(count))
      return error(subject, "attribute 'operandSegmentSizes' tells of ", sum, " operands, but there are ",
                   static_cast<int64_t>(count));
    return success();
  }
  const size_t required = llvm::count_if(names, [](const OperandName &name) { return name.kind == '1'; });
  const bool any = llvm::any_of(names, [](const OperandName &name) { return name.kind == '*'; });
  if (count >= required && (any || count <= names.size()))
    return success();
  return error(subject, "has ", static_cast<int64_t>(count), " operands; expected ",
               required == names.size() ? std::to_string(required)
               : any                    ? std::to_string(required) + " or more"
                                        : std::to_string(required) + " to " + std::to_string(names.size()));
}

//===----------------------------------------------------------------------===//
// An op as the rules see it
//===----------------------------------------------------------------------===//

static rules::Attribute numbers(ArrayRef<int64_t> values, int64_t columns = 0) {
  return rules::Attribute::of(rules::View(values.data(), values.size()), columns);
}

static rules::Attribute numberOf(IntegerAttr integer) {
  const llvm::APInt &value = integer.getValue();
  const bool isUnsigned = integer.getType().isUnsignedInteger();
  if (isUnsigned ? !value.isIntN(63) : !value.isSignedIntN(64))
    return rules::Attribute::other();
  return rules::Attribute::of(isUnsigned ? static_cast<int64_t>(value.getZExtValue()) : value.getSExtValue());
}

static rules::Attribute convert(Attribute attr) {
  using rules::Attribute;
  if (!attr)
    return {};
  if (auto boolean = dyn_cast<BoolAttr>(attr))
    return Attribute::of(boolean.getValue());
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return numberOf(integer);
  if (auto text = dyn_cast<StringAttr>(attr))
    return Attribute::of(std::string_view(text.getValue()));
  if (auto values = dyn_cast<DenseI64ArrayAttr>(attr))
    return numbers(values);
  if (auto values = dyn_cast<DenseI32ArrayAttr>(attr))
    return numbers(llvm::to_vector_of<int64_t>(values.asArrayRef()));
  if (auto values = dyn_cast<ArrayAttr>(attr)) {
    rules::Sizes sizes;
    for (mlir::Attribute element : values) {
      auto integer = dyn_cast<IntegerAttr>(element);
      Attribute number = integer ? numberOf(integer) : Attribute::other();
      if (number.kind != Attribute::Kind::Integer)
        return Attribute::other();
      sizes.push_back(number.integer);
    }
    return Attribute::of(rules::View(sizes));
  }
  if (auto values = dyn_cast<DenseIntElementsAttr>(attr)) {
    SmallVector<int64_t> all;
    for (const llvm::APInt &value : values)
      all.push_back(value.getSExtValue());
    return numbers(all, values.getType().getRank() == 2 ? values.getType().getDimSize(1) : -1);
  }
  if (auto type = dyn_cast<mlir::tt::ttcore::MeshShardTypeAttr>(attr))
    return Attribute::of(std::string_view(stringifyMeshShardType(type.getValue())));
  if (auto mask = dyn_cast<mlir::tt::ttcore::AttentionMaskTypeAttr>(attr))
    return Attribute::of(std::string_view(stringifyAttentionMaskType(mask.getValue())));
  if (auto reduction = dyn_cast<mlir::tt::ttcore::ReduceTypeAttr>(attr))
    return Attribute::of(std::string_view(stringifyReduceType(reduction.getValue())));
  if (auto direction = dyn_cast<mlir::tt::ttcore::MeshShardDirectionAttr>(attr))
    return Attribute::of(std::string_view(stringifyMeshShardDirection(direction.getValue())));
  return Attribute::other();
}

static Operation *operationAround(Value value) {
  if (Operation *op = value.getDefiningOp())
    return op;
  Block *block = cast<BlockArgument>(value).getOwner();
  return block ? block->getParentOp() : nullptr;
}

namespace {
class DialectOp final : public rules::Op {
public:
  DialectOp(const OpShapes &shapes, const Subject &subject) : shapes(shapes), subject(subject) {
    const SmallVector<OperandName, 8> names = namesOf(shapes);
    size_t required = llvm::count_if(names, [](const OperandName &name) { return name.kind == '1'; }), next = 0;
    for (auto [i, name] : llvm::enumerate(names)) {
      // If the op does not state numbers of values, at most one operand has a number other than 1.
      const size_t count = subject.segments ? (*subject.segments)[i]
                           : name.kind == '1'
                               ? 1
                               : std::min(subject.operands.size() - required, name.kind == '?' ? size_t(1) : SIZE_MAX);
      if (!subject.segments && name.kind == '?')
        required += count; // of several optional ones, the first are there
      for (size_t k = 0; k < count; ++k)
        add(name.name, subject.operands[next++]);
      if (count == 0 && name.kind == '?')
        all.push_back({std::string_view(name.name)});
    }
    operands = {all.data(), all.size()};
    if (subject.op)
      for (Type type : subject.op->getResultTypes())
        if (auto shaped = dyn_cast<ShapedType>(type); shaped && shaped.hasRank())
          results.push_back({shaped.getShape().data(), shaped.getShape().size()});
    declared = {results.data(), results.size()};
  }

  Value valueOf(const rules::Operand &operand) const { return values[&operand - all.data()]; }
  /// The first value of that name.
  Value valueOf(StringRef name) const {
    for (auto [operand, value] : llvm::zip(all, values))
      if (operand.name == std::string_view(name))
        return value;
    return {};
  }

  rules::Attribute attribute(std::string_view name) const override {
    auto [base, field] = StringRef(name).split('.');
    Attribute attr = subject.attribute(base);
    if (!attr)
      return {};
    if (auto elements = dyn_cast<ElementsAttr>(attr); elements && field == "shape")
      return isa<RankedTensorType>(elements.getShapedType()) ? numbers(elements.getShapedType().getShape())
                                                             : rules::Attribute::other();
    if (std::optional<ConfigNumbers> read = shapes.readConfig(attr, field))
      return read->isList ? numbers(read->values) : rules::Attribute::of(read->values.front());
    return field.empty() ? convert(attr) : rules::Attribute();
  }

  rules::View mesh() const override {
    if (!meshShape) {
      Operation *from = subject.op;
      for (size_t i = 0; i < subject.operands.size() && !from; ++i)
        from = operationAround(subject.operands[i]);
      std::optional<SmallVector<int64_t>> found = from ? mlir::tt::ttcore::lookupMeshShape(from) : std::nullopt;
      meshShape = found.value_or(SmallVector<int64_t>());
    }
    return {meshShape->data(), meshShape->size()};
  }

  std::string describe(const rules::Operand &operand) const override {
    std::string text;
    llvm::raw_string_ostream stream(text);
    Type type = valueOf(operand).getType();
    stream << "is '" << type << "'"; // as in messages of MLIR
    if (operand.state == rules::Operand::State::Unusable)
      stream << (isa<RankedTensorType>(type) ? "; dynamic dimensions are not supported" : "; expected a ranked tensor");
    return text;
  }

private:
  void add(StringRef name, Value value) {
    rules::Operand operand{std::string_view(name), rules::Operand::State::Unusable};
    auto type = dyn_cast<ShapedType>(value.getType());
    if (type && (isa<RankedTensorType>(type) || (shapes.types == "shaped" && type.hasRank())) &&
        type.hasStaticShape()) {
      operand.state = rules::Operand::State::Present;
      operand.shape = {type.getShape().data(), type.getShape().size()};
      operand.element = type.getElementType().isInteger()       ? rules::Element::Integer
                        : isa<FloatType>(type.getElementType()) ? rules::Element::Float
                                                                : rules::Element::Other;
    }
    all.push_back(operand);
    values.resize(all.size());
    values.back() = value;
  }

  const OpShapes &shapes;
  const Subject &subject;
  SmallVector<rules::Operand, 8> all;
  SmallVector<Value, 8> values; // of `all`, null where absent
  SmallVector<rules::View, 3> results;
  mutable std::optional<SmallVector<int64_t>> meshShape;
};
} // namespace

static LogicalResult ask(const OpShapes &shapes, const Subject &subject, const DialectOp &op, rules::Results &results) {
  const rules::Rule *rule = rules::findRule(shapes.rule);
  if (!rule)
    return error(subject, "has the shape rule ", shapes.rule, ", which there is not");
  std::optional<rules::Failure> failed = rules::infer(*rule, op, results);
  if (!failed)
    return success();
  switch (failed->subject) {
  case rules::Failure::Subject::Operand:
    return error(subject, "operand '", failed->name, "' ", failed->text);
  case rules::Failure::Subject::Attribute:
    return error(subject, "attribute '", failed->name, "' ", failed->text);
  case rules::Failure::Subject::Op:
    return error(subject, failed->text);
  }
  llvm_unreachable("no such subject");
}

//===----------------------------------------------------------------------===//
// Inference and verification
//===----------------------------------------------------------------------===//

/// Returns the type that a result follows: a tensor or memref, or only an element type.
static Type likeOf(const DialectOp &op, const Subject &subject, StringRef word) {
  if (word == "i32")
    return IntegerType::get(subject.context, 32);
  if (word == "ui16")
    return IntegerType::get(subject.context, 16, IntegerType::Unsigned);
  if (word == "f32")
    return Float32Type::get(subject.context);
  if (word.consume_front("@")) {
    Attribute attr = subject.attribute(word);
    if (auto elements = dyn_cast_or_null<ElementsAttr>(attr))
      return elements.getShapedType();
    auto typed = dyn_cast_or_null<TypedAttr>(attr);
    return typed ? typed.getType() : Type();
  }
  Value value = word.empty() || word == "shaped" ? (subject.operands.empty() ? Value() : subject.operands.front())
                                                 : op.valueOf(word);
  return value ? value.getType() : Type();
}

LogicalResult mlir::tt::shapes::checkAttributes(MLIRContext *context, std::optional<Location> location,
                                                llvm::function_ref<LogicalResult(Location)> verify) {
  if (location)
    return verify(*location);
  ScopedDiagnosticHandler silence(context, [](Diagnostic &) { return success(); });
  return verify(UnknownLoc::get(context));
}

LogicalResult mlir::tt::shapes::infer(const OpShapes &shapes, const Subject &subject, SmallVectorImpl<Type> &results) {
  DialectOp op(shapes, subject);
  rules::Results found;
  if (failed(ask(shapes, subject, op, found)))
    return failure();
  StringRef rest = shapes.types;
  for (const rules::Sizes &sizes : found) {
    ArrayRef<int64_t> shape(sizes.data(), sizes.size());
    StringRef word;
    std::tie(word, rest) = rest.split(' ');
    Type like = likeOf(op, subject, word);
    auto shaped = dyn_cast_or_null<ShapedType>(like);
    Type elementType = shaped ? shaped.getElementType() : like;
    // An encoding can depend on the shape.
    if (shaped && shaped.hasRank() && shaped.getShape() == shape)
      results.push_back(like);
    else if (isa_and_nonnull<MemRefType>(like))
      results.push_back(MemRefType::get(shape, elementType));
    else if (elementType && RankedTensorType::isValidElementType(elementType))
      results.push_back(RankedTensorType::get(shape, elementType));
    else
      return error(subject, "has a result whose element type is not known; give its type");
  }
  return success();
}

std::optional<::ttmlir::shapes::Factors> mlir::tt::shapes::inferFactors(const OpShapes &shapes,
                                                                        const Subject &subject) {
  const DialectOp op(shapes, subject);
  return rules::inferFactors(shapes.rule, op);
}

LogicalResult mlir::tt::shapes::verify(const OpShapes &shapes, const Subject &subject) {
  DialectOp op(shapes, subject);
  rules::Results found;
  if (failed(ask(shapes, subject, op, found)))
    return failure();
  for (auto [i, sizes] : llvm::enumerate(found)) {
    if (i < op.declared.size() && sizes == op.declared[i])
      continue;
    if (i >= subject.op->getNumResults())
      return error(subject, "has ", subject.op->getNumResults(), " results; expected ", found.size());
    return error(subject, "result ", found.size() > 1 ? std::to_string(i) + " " : "", "is ",
                 subject.op->getResult(i).getType(), "; expected shape ", op.text(sizes));
  }
  return verifyElementTypes(shapes, subject);
}
