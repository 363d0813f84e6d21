//===- Properties.h - hooks of properties, for all ops ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The properties of an op are a table: name, place in the op's Properties, class. tools/opgen/properties.py writes it,
// and makes each hook that MLIR's ops have one call of a function here.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_PROPERTIES_H
#define TTMLIR_DIALECT_PROPERTIES_H

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/Support/TypeName.h"

#include <array>
#include <cstddef>
#include <type_traits>

namespace mlir::tt {

/// How properties of one type are kept: an attribute, or the sizes of segments, as an attribute of 32-bit integers.
struct PropertyClass {
  Attribute (*get)(MLIRContext *context, const void *storage);
  /// Returns false, and sets an attribute to null, if the value is of another class.
  bool (*set)(void *storage, Attribute value);
  StringRef (*name)();
  size_t segments; // 0: an attribute
};

namespace detail {
template <class T> struct PropertyOf {
  static Attribute get(MLIRContext *, const void *storage) { return *static_cast<const T *>(storage); }
  static bool set(void *storage, Attribute value) {
    return static_cast<bool>(*static_cast<T *>(storage) = dyn_cast_if_present<T>(value));
  }
  static StringRef name() { return llvm::getTypeName<T>(); }
  static_assert(std::is_convertible_v<T, Attribute>, "properties are attributes or sizes of segments");
  static constexpr PropertyClass value = {get, set, name, 0};
};

template <size_t count> struct PropertyOf<std::array<int32_t, count>> {
  static Attribute get(MLIRContext *context, const void *storage);
  static bool set(void *storage, Attribute value);
  static StringRef name() { return "segment sizes"; }
  static constexpr PropertyClass value = {get, set, name, count};
};

Attribute getSegments(MLIRContext *context, const void *storage, size_t count);
bool setSegments(void *storage, size_t count, Attribute value);

template <size_t count>
Attribute PropertyOf<std::array<int32_t, count>>::get(MLIRContext *context, const void *storage) {
  return getSegments(context, storage, count);
}
template <size_t count> bool PropertyOf<std::array<int32_t, count>>::set(void *storage, Attribute value) {
  return setSegments(storage, count, value);
}
} // namespace detail

/// A property of an op, by the name of its attribute.
struct Property {
  using EmitError = function_ref<InFlightDiagnostic()>;

  StringLiteral name;
  size_t offset; // in the op's Properties
  const PropertyClass *kind;
  bool isOptional;

  Attribute get(MLIRContext *context, const void *properties) const {
    return kind->get(context, static_cast<const char *>(properties) + offset);
  }
  bool set(void *properties, Attribute value) const {
    return kind->set(static_cast<char *>(properties) + offset, value);
  }
  bool isSegments() const { return kind->segments != 0; }
};

// A property that is an interface leaves Properties without standard layout. Compilers support `offsetof` of a class
// without virtual bases all the same.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

/// The row of a member of the Properties of an op.
#define TT_PROPERTY(Op, member, name, isOptional)                                                                      \
  {name, offsetof(Op::Properties, member), &::mlir::tt::detail::PropertyOf<decltype(Op::Properties::member)>::value,   \
   isOptional}

/// A table of properties, in the order of bytecode.
using PropertyTable = ArrayRef<Property>;

/// Sets the properties of the op named `op` from a dictionary. Every key must be a property: a misspelled one would
/// otherwise be dropped.
LogicalResult setProperties(StringRef op, Attribute dictionary, Property::EmitError emitError, void *properties,
                            PropertyTable table);
/// Returns the properties as a dictionary; null if there are none.
Attribute propertiesAsAttr(MLIRContext *context, const void *properties, PropertyTable table);
llvm::hash_code hashOfProperties(const void *properties, PropertyTable table);
/// Returns a property, which may be null, or nothing if no property has the name.
std::optional<Attribute> inherentAttr(MLIRContext *context, const void *properties, PropertyTable table,
                                      StringRef name);
void setInherentAttr(void *properties, PropertyTable table, StringRef name, Attribute value);
void populateInherentAttrs(MLIRContext *context, const void *properties, PropertyTable table,
                           NamedAttrList &attributes);
LogicalResult readProperties(DialectBytecodeReader &reader, void *properties, PropertyTable table);
void writeProperties(DialectBytecodeWriter &writer, MLIRContext *context, const void *properties, PropertyTable table);

/// Returns "<op> has no attribute '<name>'", with the nearest of the known names, or all of them if none is near.
std::string unknownAttribute(StringRef op, StringRef name, ArrayRef<StringRef> known);

/// Whether one of the known names is near.
bool isNearAttribute(StringRef name, ArrayRef<StringRef> known);

} // namespace mlir::tt

#endif // TTMLIR_DIALECT_PROPERTIES_H
