//===- PipelineOptions.cpp - C API: options of pipelines ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/PipelineOptions.h"
#include "ttmlir-c/Registration.h"
#include "ttmlir/Dialect/TTNN/Pipelines/TTNNPipelines.h"

#include "mlir/CAPI/Support.h"
#include "llvm/Support/JSON.h"

using namespace mlir::tt;

static llvm::StringRef kindName(ttcore::OptionValues::Kind kind) {
  using Kind = ttcore::OptionValues::Kind;
  switch (kind) {
  case Kind::Boolean:
    return "boolean";
  case Kind::Integer:
    return "integer";
  case Kind::Number:
    return "number";
  case Kind::Text:
    return "text";
  case Kind::Choice:
    return "choice";
  }
  llvm_unreachable("all kinds are named");
}

static llvm::json::Object described(const ttcore::OptionDescription &option) {
  llvm::json::Array choices;
  for (const ttcore::OptionValues::Choice &each : option.values.choices)
    choices.push_back(llvm::json::Array{each.value, each.help});
  return llvm::json::Object{{"name", option.name},          {"help", option.help},
                            {"default", option.fallback},   {"kind", kindName(option.values.kind)},
                            {"is_list", option.isList},     {"expected", option.values.expected},
                            {"choices", std::move(choices)}};
}

void ttmlirDescribePipelines(MlirStringCallback callback, void *userData) {
  ttmlirRegisterAllPasses();
  llvm::json::Object pipelines;
  for (const std::string &name : ttcore::pipelineNames()) {
    const ttcore::PipelineDescription *pipeline = ttcore::describePipeline(name);
    llvm::json::Array options;
    for (const ttcore::OptionDescription &option : pipeline->options)
      options.push_back(described(option));
    pipelines[name] = llvm::json::Object{{"help", pipeline->help}, {"options", std::move(options)}};
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(pipelines));
  callback(wrap(llvm::StringRef(text)), userData);
}

bool ttmlirCheckPipelineOption(MlirStringRef pipeline, MlirStringRef name, MlirStringRef value,
                               MlirStringCallback callback, void *userData) {
  ttmlirRegisterAllPasses();
  std::string text = unwrap(value).str();
  const std::string refused = ttcore::checkPipelineOption(unwrap(pipeline), unwrap(name), text);
  callback(wrap(llvm::StringRef(refused.empty() ? text : refused)), userData);
  return refused.empty();
}

MlirStringRef ttmlirFrameworkOptions() { return wrap(llvm::StringRef(ttnn::frameworkOptions)); }
