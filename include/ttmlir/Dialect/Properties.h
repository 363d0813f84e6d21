//===- Properties.h - properties of ops from dictionaries -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_PROPERTIES_H
#define TTMLIR_DIALECT_PROPERTIES_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/ODSSupport.h"

namespace mlir::tt {

/// A property of an op, by the name of its attribute, and where it is stored.
class Property {
public:
  using EmitError = function_ref<InFlightDiagnostic()>;

  template <class T> Property(StringRef name, T &storage) : name(name), storage(&storage), assign(assignTo<T>) {}

  /// Sets the storage. An attribute of another class is an error.
  LogicalResult set(Attribute value, EmitError emitError) const { return assign(*this, value, emitError); }

  StringRef name;

private:
  template <class T> static LogicalResult assignTo(const Property &to, Attribute value, EmitError emitError) {
    T &storage = *static_cast<T *>(to.storage);
    if constexpr (std::is_convertible_v<T, Attribute>)
      return (storage = dyn_cast<T>(value)) ? success() : to.refuse(value, emitError);
    else
      return convertFromAttribute(storage, value, emitError);
  }

  LogicalResult refuse(Attribute value, EmitError emitError) const;

  void *storage;
  LogicalResult (*assign)(const Property &, Attribute, EmitError);
};

/// Sets the properties of the op named `op` from a dictionary. Every key must be a property: a misspelled one would
/// otherwise be dropped. Generated `setPropertiesFromAttr` functions call this (tools/opgen/properties.py).
LogicalResult setProperties(StringRef op, Attribute dictionary, Property::EmitError emitError,
                            ArrayRef<Property> properties);

/// Returns "<op> has no attribute '<name>'", with the nearest of the known names, or all of them if none is near.
std::string unknownAttribute(StringRef op, StringRef name, ArrayRef<StringRef> known);

/// Whether one of the known names is near.
bool isNearAttribute(StringRef name, ArrayRef<StringRef> known);

} // namespace mlir::tt

#endif // TTMLIR_DIALECT_PROPERTIES_H
