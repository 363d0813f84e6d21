//===- Registration.h - C API: dialects, passes, translations ----*- C -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_C_REGISTRATION_H
#define TTMLIR_C_REGISTRATION_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Adds all dialects of the toolchain to a registry.
MLIR_CAPI_EXPORTED void ttmlirRegisterAllDialects(MlirDialectRegistry registry);

/// Makes all passes and pipelines known by name; may be called repeatedly.
MLIR_CAPI_EXPORTED void ttmlirRegisterAllPasses(void);

/// Hands `callback` the registered pipelines as JSON: by name their help, and the name, help, default, kind and values
/// of each option.
MLIR_CAPI_EXPORTED void ttmlirDescribePipelines(MlirStringCallback callback, void *userData);

/// Hands `callback` an option's value in its canonical form, or why the pipeline refuses the option or the value.
/// Returns whether it takes them.
MLIR_CAPI_EXPORTED bool ttmlirCheckPipelineOption(MlirStringRef pipeline, MlirStringRef name, MlirStringRef value,
                                                  MlirStringCallback callback, void *userData);

/// Returns what the front ends of PyTorch and JAX set of `ttir-to-ttnn-backend-pipeline` unless the user does, as text.
MLIR_CAPI_EXPORTED MlirStringRef ttmlirFrameworkOptions(void);

/// Serialises a module of TTNN programs and hands the bytes to `callback`.
/// Fails with diagnostics on the module's context.
MLIR_CAPI_EXPORTED MlirLogicalResult ttmlirTranslateToFlatbuffer(MlirOperation module, MlirStringCallback callback,
                                                                 void *userData);

/// Likewise for a module of TTMetal programs.
MLIR_CAPI_EXPORTED MlirLogicalResult ttmlirTranslateTTMetalToFlatbuffer(MlirOperation module,
                                                                        MlirStringCallback callback, void *userData);

/// Makes one flatbuffer of those of a program for `count` points, which leaves `sizes` sizes open (OpenSizes.h):
/// `bounds` has the least and the most of each, `points` a value of each for every file. Hands the bytes to `callback`,
/// and quotients of sizes to `quotient`; on failure, why sizes cannot stay open. `searches` gets for how many numbers
/// an expression was looked for.
typedef void (*TtmlirQuotientCallback)(int64_t period, bool isKnown, MlirStringRef place, void *userData);
MLIR_CAPI_EXPORTED MlirLogicalResult ttmlirOpenSizes(intptr_t count, const MlirStringRef *files, intptr_t sizes,
                                                     const MlirStringRef *names, const int64_t *bounds,
                                                     const int64_t *points, MlirStringCallback callback,
                                                     TtmlirQuotientCallback quotient, intptr_t *searches,
                                                     void *userData);

/// Prints the kernels of a module of TTMetal programs as C++.
MLIR_CAPI_EXPORTED MlirLogicalResult ttmlirTranslateKernelsToCpp(MlirOperation module, MlirStringCallback callback,
                                                                 void *userData);

/// Prints a module of the emitc dialect as C++, or one of the emitpy dialect as Python, of several files the one that
/// `file` names (empty for a module that is one file).
MLIR_CAPI_EXPORTED MlirLogicalResult ttmlirTranslateToCpp(MlirOperation module, MlirStringCallback callback,
                                                          void *userData);
MLIR_CAPI_EXPORTED MlirLogicalResult ttmlirTranslateToPython(MlirOperation module, MlirStringRef file,
                                                             MlirStringCallback callback, void *userData);

/// Writes the constants of such a module into a folder, which is created when there are any.
MLIR_CAPI_EXPORTED MlirLogicalResult ttmlirWriteTensorFiles(MlirOperation module, MlirStringRef folder);

/// Hands `callback` the name of the op that the conversions make of an op of TTIR, StableHLO or CHLO, "rule" where that
/// depends on the op; does not call it for an op that is not lowered.
MLIR_CAPI_EXPORTED void ttmlirOpLowering(MlirStringRef name, MlirContext context, MlirStringCallback callback,
                                         void *userData);

/// Hands `callback` the text of the whole module after every pass that runs in a context: the pass by its argument, and
/// the module with its locations. The context then uses one thread. `forget` is called with `userData` when no further
/// pass can be handed over. A context has one log; a second call replaces it.
MLIR_CAPI_EXPORTED void ttmlirLogModules(MlirContext context,
                                         void (*callback)(MlirStringRef pass, MlirStringRef module, void *userData),
                                         void (*forget)(void *userData), void *userData);

/// The StableHLO module of a portable artefact; null after an error, which is emitted on the context.
MLIR_CAPI_EXPORTED MlirModule ttmlirDeserializePortableArtifact(MlirContext context, MlirStringRef bytes);

/// Hands `callback` the portable artefact of a StableHLO module, in a version MAJOR.MINOR.PATCH.
MLIR_CAPI_EXPORTED MlirLogicalResult ttmlirSerializePortableArtifact(MlirModule module, MlirStringRef version,
                                                                     MlirStringCallback callback, void *userData);

/// Whether bytes begin as those of a portable artefact.
MLIR_CAPI_EXPORTED bool ttmlirIsPortableArtifact(MlirStringRef bytes);

/// Hands `callback` the oldest version of artefacts that is read and written, or the newest one.
MLIR_CAPI_EXPORTED void ttmlirPortableArtifactVersion(bool newest, MlirStringCallback callback, void *userData);

#ifdef __cplusplus
}
#endif

#endif // TTMLIR_C_REGISTRATION_H
