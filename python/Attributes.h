//===- Attributes.h - Python classes of attributes and types ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A Python class for an attribute is declared with `attributeClass<Attr>` and given its `get` and properties; its
// values in the IR then have that class.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_PYTHON_ATTRIBUTES_H
#define TTMLIR_PYTHON_ATTRIBUTES_H

#include "mlir/Bindings/Python/NanobindAdaptors.h"
#include "mlir/CAPI/AffineMap.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"

namespace ttmlir::python {
namespace nb = nanobind;
using namespace mlir::python::nanobind_adaptors;

/// Raises TypeError for an attribute of another class, with which the getter of a property may be called.
template <class Attr> Attr cast(MlirAttribute attr) {
  auto found = llvm::dyn_cast_or_null<Attr>(unwrap(attr));
  if (!found)
    throw nb::type_error("the attribute is of another class than the property");
  return found;
}

template <class Type> Type cast(MlirType type) {
  auto found = llvm::dyn_cast_or_null<Type>(unwrap(type));
  if (!found)
    throw nb::type_error("the type is of another class than the property");
  return found;
}

template <class Attr> mlir_attribute_subclass attributeClass(nb::module_ &m, const char *name) {
  return mlir_attribute_subclass(
      m, name, +[](MlirAttribute attr) { return llvm::isa<Attr>(unwrap(attr)); },
      +[]() { return wrap(mlir::TypeID::get<Attr>()); });
}

template <class Type> mlir_type_subclass typeClass(nb::module_ &m, const char *name) {
  return mlir_type_subclass(
      m, name, +[](MlirType type) { return llvm::isa<Type>(unwrap(type)); },
      +[]() { return wrap(mlir::TypeID::get<Type>()); });
}

/// Attributes of one class from Python attributes; raises ValueError naming the one of another class.
template <class Attr> llvm::SmallVector<Attr> castAll(const std::vector<MlirAttribute> &attrs, const char *what) {
  llvm::SmallVector<Attr> result;
  for (auto [index, attr] : llvm::enumerate(attrs)) {
    auto cast = llvm::dyn_cast_or_null<Attr>(unwrap(attr));
    if (!cast)
      throw nb::value_error(
          (llvm::Twine(what) + "[" + llvm::Twine(index) + "] is an attribute of another kind").str().c_str());
    result.push_back(cast);
  }
  return result;
}

template <class Attr> std::vector<MlirAttribute> wrapAll(llvm::ArrayRef<Attr> attrs) {
  std::vector<MlirAttribute> result;
  for (Attr attr : attrs)
    result.push_back(wrap(static_cast<mlir::Attribute>(attr)));
  return result;
}

/// An attribute of one enum: `get(value)` and `value`.
template <class Attr, class Enum>
void enumAttribute(nb::module_ &m, const char *name, std::optional<Enum> (*symbolize)(uint32_t)) {
  std::string what = name;
  attributeClass<Attr>(m, name)
      .def_classmethod(
          "get",
          [symbolize, what](const nb::object &cls, uint32_t value, MlirContext context) {
            std::optional<Enum> symbol = symbolize(value);
            if (!symbol)
              throw nb::value_error((what + " has no value " + std::to_string(value)).c_str());
            return wrap(static_cast<mlir::Attribute>(Attr::get(unwrap(context), *symbol)));
          },
          nb::arg("cls"), nb::arg("value"), nb::arg("context").none() = nb::none())
      .def_property_readonly("value",
                             [](MlirAttribute self) { return static_cast<uint32_t>(cast<Attr>(self).getValue()); });
}

/// Builds an attribute through its verifier; raises ValueError with the verifier's message.
template <class Attr, class... Args> MlirAttribute checked(MlirContext context, Args &&...args) {
  std::string message;
  mlir::MLIRContext *mlirContext = unwrap(context);
  mlir::ScopedDiagnosticHandler handler(mlirContext, [&](mlir::Diagnostic &diagnostic) {
    message += diagnostic.str();
    return mlir::success();
  });
  auto emitError = [&] { return mlir::emitError(mlir::UnknownLoc::get(mlirContext)); };
  auto attr = Attr::getChecked(emitError, mlirContext, std::forward<Args>(args)...);
  if (!attr)
    throw nb::value_error(message.c_str());
  return wrap(static_cast<mlir::Attribute>(attr));
}

void populateTTCore(nb::module_ &m);
void populateTTNN(nb::module_ &m);
void populateTTNNMemory(nb::module_ &m);
void populateStableHLO(nb::module_ &m);
void populateUtil(nb::module_ &m);
void populateTranslate(nb::module_ &m);

} // namespace ttmlir::python

#endif // TTMLIR_PYTHON_ATTRIBUTES_H
