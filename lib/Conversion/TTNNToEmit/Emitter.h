//===- Emitter.h - shared emitter of TTNN functions -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTNNTOEMIT_EMITTER_H
#define TTMLIR_LIB_CONVERSION_TTNNTOEMIT_EMITTER_H

#include "Calls.h"
#include "Signatures.h"

#include "ttmlir/Dialect/Debug/IR/Debug.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/GenericOp.h"
#include "ttmlir/Target/TTNN/NativeCode.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <set>

namespace mlir::tt::emit {

struct EmitOptions {
  bool withMain = true;
  std::string tensorDirectory = "tensors";
  bool loadInputs = false;
  std::string inputDirectory, inputPrefix = "arg";
  bool listInputs = false; // programs take one list, and return one
  bool splitFiles = false; // what is evaluated once is in a file of its own
};

/// Rewrites a module of TTNN programs into one of functions of a language's dialect. The common part of the languages
/// is here; each language defines the form of a call, a function and a module.
class Emitter {
public:
  Emitter(ModuleOp module, Language language, const EmitOptions &options)
      : module(module), builder(module.getContext()), syntax(language), options(options) {}
  virtual ~Emitter() = default;

  LogicalResult run();

protected:
  /// An emitted function.
  struct Function {
    std::string name;                   // that of the source, as far as the language takes it
    SmallVector<std::string> arguments; // wished names; with a device, it is the last
    bool takesDevice = false;
    unsigned results = 0;
    bool returnsList = false;              // also of one result
    SmallVector<TupleForm::List, 1> lists; // of the arguments but the device; none when each is by itself
    SmallVector<unsigned> groups;          // of the results, which are that many lists; none when they are one
    bool isEvaluatedOnce = false;
    bool isCalled = false;         // by functions of this module
    bool inputsTakeDevice = false; // of a program: the function that makes its inputs does
    Location location;

    bool takesList() const { return !lists.empty(); }
  };

  /// Write the text before and after the functions. `programs` are the public functions.
  virtual void begin(bool hasTensorFiles, ArrayRef<std::string> evaluatedOnce) = 0;
  virtual void finish(ArrayRef<Function> programs) = 0;
  /// Moves the builder to the end of the file of a function.
  virtual void goToFileOf(const Function &) { builder.setInsertionPointToEnd(module.getBody()); }
  /// Writes text that defines a name.
  virtual void define(const std::string &name, const std::string &text) = 0;
  /// Creates the function; the builder is moved into its body. Returns its arguments.
  virtual SmallVector<Value> beginFunction(const Function &function) = 0;
  virtual void endFunction(const Function &function, ArrayRef<Value> results, Location location) = 0;
  /// Builds a call with `count` results. `device` is the function's device argument, or null.
  virtual SmallVector<Value> call(Location location, const Call &call, ArrayRef<SmallVector<Value, 1>> operands,
                                  Value device, unsigned count, ArrayRef<std::string> names) = 0;
  /// A call of a function of this module that runs once for the same arguments.
  virtual SmallVector<Value> callCached(Location location, const Function &callee, ArrayRef<Value> operands,
                                        Value device, unsigned count, ArrayRef<std::string> names) = 0;
  /// A call of a function of this module.
  virtual SmallVector<Value> callFunction(Location location, const Function &callee, ArrayRef<Value> operands,
                                          ArrayRef<std::string> names) = 0;
  /// A loop or a branch of functions of this module, which all take the device. `index` is the number of the branch,
  /// null for a loop. A loop carries as many of its operands as it has results.
  virtual SmallVector<Value> callControl(Location location, Value index, ArrayRef<const Function *> callees,
                                         ArrayRef<Value> operands, Value device, unsigned count,
                                         ArrayRef<std::string> names) = 0;
  /// The expression for the file of a constant.
  virtual std::string tensorPath(StringRef file) const = 0;
  /// The expression for a file next to the program.
  virtual std::string adjacentPath(StringRef file) const = 0;

  /// Whether functions that are evaluated in every run read constants, or host code, from files.
  bool readsTensors();

  ArrayAttr namesAttribute(ArrayRef<std::string> names) {
    return builder.getStrArrayAttr(SmallVector<StringRef>(names.begin(), names.end()));
  }

  ModuleOp module;
  OpBuilder builder;
  Syntax syntax;
  EmitOptions options;
  /// Rows and columns of the mesh.
  SmallVector<int64_t> mesh = {1, 1};
  /// Whether there are loops or branches.
  bool hasControl = false;
  /// Whether programs bring kernels.
  bool hasKernels() const { return !kernelPrograms.empty(); }
  /// The machine code of the functions of the host.
  std::optional<ttnn::NativeCode> native;

private:
  LogicalResult collect();
  func::FuncOp hoistConstants(func::FuncOp program);
  LogicalResult convert(func::FuncOp function);
  LogicalResult convert(Operation &op);
  LogicalResult convertConstant(ttnn::ConstantOp op);
  LogicalResult convertLoadCached(ttcore::LoadCachedOp op);
  LogicalResult convertCall(func::CallOp op);
  LogicalResult convertControl(Operation &op);
  LogicalResult convertHostCall(debug::HostCallOp op);
  LogicalResult collectKernels(NameScope &names);
  void defineKernels(func::FuncOp function);
  void convertGeneric(ttnn::GenericOp op);
  bool isNative(Operation *op) const;
  bool usesDevice(func::FuncOp function) const;
  void addHostFunctions();
  FailureOr<const Function *> findCallee(Operation *op, StringRef name);
  void passDevices(ArrayRef<func::FuncOp> sources);
  LogicalResult checkOperands(Operation *op);
  void map(Operation &op, ArrayRef<Value> results);
  SmallVector<std::string> namesOf(Operation &op) const;
  std::string fileOf(ttnn::ConstantOp op);

  /// A function that describes and runs the kernels of generic ops, and their sources, which are constants.
  struct KernelProgram {
    std::string name, text;
    SmallVector<StringAttr> sources;
  };
  /// Programs, and types of operands.
  using KernelKey = std::pair<Attribute, Type>;
  static KernelKey keyOf(ttnn::GenericOp op);

  DenseMap<KernelKey, KernelProgram> kernelPrograms;
  DenseMap<Attribute, std::string> kernelSources;    // names of constants
  std::set<std::pair<Block *, std::string>> defined; // names, by file
  llvm::StringMap<TupleForm> tuples;                 // what functions took and returned, by the name of the source
  llvm::StringMap<Function> functions;
  SmallVector<NamedAttribute> files;
  DenseMap<std::pair<Attribute, Attribute>, std::string> fileNames;
  llvm::StringMap<unsigned> usedFiles;
  DenseMap<Value, Value> values;
  Value device;
};

} // namespace mlir::tt::emit

#endif // TTMLIR_LIB_CONVERSION_TTNNTOEMIT_EMITTER_H
