//===- VhloAttributes.cpp - attributes and types --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Vhlo/IR/Vhlo.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::vhlo;

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

/// A row, and the fields.
template <class Base> struct FieldStorage : Base {
  using KeyTy = std::pair<const DataRow *, ArrayRef<Attribute>>;

  FieldStorage(const DataRow *row, ArrayRef<Attribute> fields) : row(row), fields(fields) {}
  bool operator==(const KeyTy &key) const { return row == key.first && fields == key.second; }
  static llvm::hash_code hashKey(const KeyTy &key) {
    return llvm::hash_combine(key.first, llvm::hash_combine_range(key.second.begin(), key.second.end()));
  }

  const DataRow *row;
  ArrayRef<Attribute> fields;
};

namespace mlir::vhlo::detail {
struct VhloAttrStorage : FieldStorage<AttributeStorage> {
  using FieldStorage::FieldStorage;
  static VhloAttrStorage *construct(AttributeStorageAllocator &allocator, const KeyTy &key) {
    return new (allocator.allocate<VhloAttrStorage>()) VhloAttrStorage(key.first, allocator.copyInto(key.second));
  }
};
struct VhloTypeStorage : FieldStorage<TypeStorage> {
  using FieldStorage::FieldStorage;
  static VhloTypeStorage *construct(TypeStorageAllocator &allocator, const KeyTy &key) {
    return new (allocator.allocate<VhloTypeStorage>()) VhloTypeStorage(key.first, allocator.copyInto(key.second));
  }
};
} // namespace mlir::vhlo::detail

void VhloDialect::registerData() {
  addAttributes<VhloAttr>();
  addTypes<VhloType>();
}

VhloAttr VhloAttr::get(MLIRContext *context, const DataRow &row, ArrayRef<Attribute> fields) {
  assert(fields.size() == row.fields.size() && "a field is missing");
  return Base::get(context, &row, fields);
}
VhloAttr VhloAttr::get(MLIRContext *context, StringRef mnemonic, ArrayRef<Attribute> fields) {
  return get(context, *findAttribute(mnemonic), fields);
}
const DataRow &VhloAttr::row() const { return *getImpl()->row; }
ArrayRef<Attribute> VhloAttr::fields() const { return getImpl()->fields; }

VhloType VhloType::get(MLIRContext *context, const DataRow &row, ArrayRef<Attribute> fields) {
  assert(fields.size() == row.fields.size() && "a field is missing");
  return Base::get(context, &row, fields);
}
VhloType VhloType::get(MLIRContext *context, StringRef mnemonic, ArrayRef<Attribute> fields) {
  return get(context, *findType(mnemonic), fields);
}
const DataRow &VhloType::row() const { return *getImpl()->row; }
ArrayRef<Attribute> VhloType::fields() const { return getImpl()->fields; }

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

namespace {
struct Number {
  StringRef mnemonic;
  Type (*make)(MLIRContext *);
};
} // namespace

template <class T> static Type make(MLIRContext *context) { return T::get(context); }
template <unsigned width, IntegerType::SignednessSemantics sign = IntegerType::Signless>
static Type makeInteger(MLIRContext *context) {
  return IntegerType::get(context, width, sign);
}

static constexpr Number numbers[] = {
    {"bool_v1", makeInteger<1>},
    {"i2_v1", makeInteger<2>},
    {"i4_v1", makeInteger<4>},
    {"i8_v1", makeInteger<8>},
    {"i16_v1", makeInteger<16>},
    {"i32_v1", makeInteger<32>},
    {"i64_v1", makeInteger<64>},
    {"ui2_v1", makeInteger<2, IntegerType::Unsigned>},
    {"ui4_v1", makeInteger<4, IntegerType::Unsigned>},
    {"ui8_v1", makeInteger<8, IntegerType::Unsigned>},
    {"ui16_v1", makeInteger<16, IntegerType::Unsigned>},
    {"ui32_v1", makeInteger<32, IntegerType::Unsigned>},
    {"ui64_v1", makeInteger<64, IntegerType::Unsigned>},
    {"index_v1", make<IndexType>},
    {"bf16_v1", make<BFloat16Type>},
    {"f16_v1", make<Float16Type>},
    {"f32_v1", make<Float32Type>},
    {"f64_v1", make<Float64Type>},
    // Written this way in files, for the type of 19 bits.
    {"tf31_v1", make<FloatTF32Type>},
    {"f8E4M3FN_v1", make<Float8E4M3FNType>},
    {"f8E5M2_v1", make<Float8E5M2Type>},
    {"f8E4M3FNUZ_v1", make<Float8E4M3FNUZType>},
    {"f8E5M2FNUZ_v1", make<Float8E5M2FNUZType>},
    {"f8E4M3B11FNUZ_v1", make<Float8E4M3B11FNUZType>},
    {"f8E4M3_v1", make<Float8E4M3Type>},
    {"f8E3M4_v1", make<Float8E3M4Type>},
    {"f4E2M1FN_v1", make<Float4E2M1FNType>},
    {"f6E2M3FN_v1", make<Float6E2M3FNType>},
    {"f6E3M2FN_v1", make<Float6E3M2FNType>},
    {"f8E8M0FNU_v1", make<Float8E8M0FNUType>},
};

Type vhlo::builtinNumber(VhloType type) {
  const auto *found = llvm::find_if(numbers, [&](const Number &number) { return type.is(number.mnemonic); });
  return found == std::end(numbers) ? Type() : found->make(type.getContext());
}

VhloType vhlo::vhloNumber(Type type) {
  MLIRContext *context = type.getContext();
  const auto *found = llvm::find_if(numbers, [&](const Number &number) { return number.make(context) == type; });
  return found == std::end(numbers) ? VhloType() : VhloType::get(context, found->mnemonic);
}

const llvm::fltSemantics *vhlo::floatFormat(Type type) {
  auto vhlo = dyn_cast<VhloType>(type);
  auto number = vhlo ? dyn_cast_or_null<FloatType>(builtinNumber(vhlo)) : FloatType();
  return number ? &number.getFloatSemantics() : nullptr;
}

std::optional<unsigned> vhlo::integerWidth(Type type) {
  auto vhlo = dyn_cast<VhloType>(type);
  Type number = vhlo ? builtinNumber(vhlo) : Type();
  if (isa_and_nonnull<IndexType>(number))
    return IndexType::kInternalStorageBitWidth;
  auto integer = dyn_cast_or_null<IntegerType>(number);
  return integer ? std::optional(integer.getWidth()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// The fields, separated by commas: dimensions precede the type; enums are written as names of values.
static void printFields(AsmPrinter &printer, const DataRow &row, ArrayRef<Attribute> fields) {
  bool isFirst = true;
  for (auto [field, value] : llvm::zip_equal(row.fields, fields)) {
    if (!isFirst)
      printer << ", ";
    isFirst = false;
    switch (field.kind) {
    case Kind::Shape:
      for (int64_t size : cast<DenseI64ArrayAttr>(value).asArrayRef()) {
        if (ShapedType::isDynamic(size))
          printer << '?';
        else
          printer << size;
        printer << 'x';
      }
      isFirst = true; // no comma before the type
      break;
    case Kind::Enum:
      printer << *row.nameOf(cast<IntegerAttr>(value).getInt());
      break;
    case Kind::Blob:
      printer << "\"0x" << llvm::toHex(cast<StringAttr>(value).getValue()) << '"';
      break;
    case Kind::Optional:
      if (value)
        printer << value;
      else
        printer << "none";
      break;
    default:
      printer << value;
    }
  }
}

/// Whether an attribute may stand for a field.
static bool holds(Kind kind, Attribute value, ArrayRef<Attribute> before) {
  auto isNumber = [&](Attribute value) {
    auto integer = dyn_cast<IntegerAttr>(value);
    return integer && integer.getType().isSignlessInteger(64);
  };
  auto isDouble = [](Attribute value) {
    auto number = dyn_cast<FloatAttr>(value);
    return number && number.getType().isF64();
  };
  auto typed = dyn_cast<TypedAttr>(value);
  switch (kind) {
  case Kind::Bool:
    return isa<BoolAttr>(value);
  case Kind::Number:
  case Kind::Signed:
    return isNumber(value);
  case Kind::Numbers:
    return isa<DenseI64ArrayAttr>(value);
  case Kind::Integer:
  case Kind::Float: {
    if (kind == Kind::Integer ? !isa<IntegerAttr>(value) : !isa<FloatAttr>(value))
      return false;
    auto type = dyn_cast<VhloType>(cast<TypeAttr>(before.back()).getValue());
    return type && builtinNumber(type) == typed.getType();
  }
  case Kind::Double:
    return isDouble(value);
  case Kind::Doubles:
    return isa<DenseF64ArrayAttr>(value);
  case Kind::String:
  case Kind::Blob:
    return isa<StringAttr>(value);
  case Kind::Type:
    return isa<TypeAttr>(value);
  case Kind::Types: {
    auto array = dyn_cast<ArrayAttr>(value);
    return array && llvm::all_of(array, llvm::IsaPred<TypeAttr>);
  }
  case Kind::Attrs:
    return isa<ArrayAttr>(value);
  case Kind::Pairs: {
    auto array = dyn_cast<ArrayAttr>(value);
    return array && array.size() % 2 == 0;
  }
  case Kind::Attr:
  case Kind::Optional:
    return true;
  case Kind::Enum:
  case Kind::Shape:
    return false; // not written as attributes
  }
  llvm_unreachable("a field of no kind");
}

static FailureOr<Attribute> parseField(AsmParser &parser, const DataRow &row, const Field &field,
                                       ArrayRef<Attribute> before) {
  Builder &builder = parser.getBuilder();
  SMLoc loc = parser.getCurrentLocation();
  if (field.kind == Kind::Shape) {
    SmallVector<int64_t> shape;
    if (parser.parseDimensionList(shape))
      return failure();
    return Attribute(builder.getDenseI64ArrayAttr(shape));
  }
  if (field.kind == Kind::Enum) {
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    if (std::optional<uint64_t> value = row.valueOf(name))
      return Attribute(builder.getI64IntegerAttr(static_cast<int64_t>(*value)));
    parser.emitError(loc, "vhlo.") << row.mnemonic << ": " << field.name << " is " << name
                                   << ", which is none of its values";
    return failure();
  }
  if (field.kind == Kind::Optional && succeeded(parser.parseOptionalKeyword("none")))
    return Attribute();
  Attribute value;
  if (parser.parseAttribute(value))
    return failure();
  if (!holds(field.kind, value, before)) {
    parser.emitError(loc, "vhlo.") << row.mnemonic << ": " << field.name << " is " << value
                                   << ", an attribute of another kind";
    return failure();
  }
  if (field.kind != Kind::Blob)
    return value;
  StringRef text = cast<StringAttr>(value);
  std::string bytes;
  if (!text.consume_front("0x") || !llvm::tryGetFromHex(text, bytes)) {
    parser.emitError(loc, "vhlo.") << row.mnemonic << ": " << field.name << " is " << value
                                   << "; expected \"0x\" and two digits for each byte";
    return failure();
  }
  return Attribute(builder.getStringAttr(bytes));
}

static LogicalResult parseFields(AsmParser &parser, const DataRow &row, SmallVectorImpl<Attribute> &fields) {
  bool isFirst = true;
  for (const Field &field : row.fields) {
    if (!isFirst && parser.parseComma())
      return failure();
    FailureOr<Attribute> value = parseField(parser, row, field, fields);
    if (failed(value))
      return failure();
    fields.push_back(*value);
    isFirst = field.kind == Kind::Shape;
  }
  return success();
}

/// The row of a tensor with an encoding, which has the mnemonic of one without.
static const DataRow *encodedTensor() {
  static const DataRow *row = findType(21);
  return row;
}

/// A row by its mnemonic, and its fields.
static FailureOr<std::pair<const DataRow *, SmallVector<Attribute>>>
parseData(DialectAsmParser &parser, const DataRow *(*find)(StringRef), StringRef what) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic;
  if (parser.parseKeyword(&mnemonic))
    return failure();
  const DataRow *row = find(mnemonic);
  if (!row) {
    parser.emitError(loc, "vhlo has no ") << what << " " << mnemonic;
    return failure();
  }
  SmallVector<Attribute> fields;
  if (row->fields.empty())
    return std::pair(row, fields);
  if (parser.parseLess() || failed(parseFields(parser, *row, fields)))
    return failure();
  // The encoding of a tensor is last in text, and first in files.
  if (row == findType("tensor_v1") && succeeded(parser.parseOptionalComma())) {
    Attribute encoding;
    if (parser.parseAttribute(encoding))
      return failure();
    fields.insert(fields.begin(), encoding);
    row = encodedTensor();
  }
  if (parser.parseGreater())
    return failure();
  return std::pair(row, fields);
}

static void printData(DialectAsmPrinter &printer, const DataRow &row, ArrayRef<Attribute> fields) {
  printer << row.mnemonic;
  if (fields.empty())
    return;
  printer << '<';
  if (&row == encodedTensor()) {
    printFields(printer, *findType("tensor_v1"), fields.drop_front());
    printer << ", " << fields.front();
  } else {
    printFields(printer, row, fields);
  }
  printer << '>';
}

Attribute VhloDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  auto data = parseData(parser, findAttribute, "attribute");
  return failed(data) ? VhloAttr() : VhloAttr::get(getContext(), *data->first, data->second);
}
void VhloDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  auto vhlo = cast<VhloAttr>(attribute);
  printData(printer, vhlo.row(), vhlo.fields());
}
Type VhloDialect::parseType(DialectAsmParser &parser) const {
  auto data = parseData(parser, findType, "type");
  return failed(data) ? VhloType() : VhloType::get(getContext(), *data->first, data->second);
}
void VhloDialect::printType(Type type, DialectAsmPrinter &printer) const {
  auto vhlo = cast<VhloType>(type);
  printData(printer, vhlo.row(), vhlo.fields());
}
