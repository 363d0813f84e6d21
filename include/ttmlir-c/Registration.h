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

/// Registers all passes and pipelines by name; may be called repeatedly.
MLIR_CAPI_EXPORTED void ttmlirRegisterAllPasses(void);

/// Passes the registered pipelines to `callback` as JSON: for each pipeline its help, and the name, help, default, kind
/// and values of each option.
MLIR_CAPI_EXPORTED void ttmlirDescribePipelines(MlirStringCallback callback, void *userData);

/// Passes the canonical form of an option's value to `callback`, or the reason why the pipeline refuses the option or
/// the value. Returns whether they are accepted.
MLIR_CAPI_EXPORTED bool ttmlirCheckPipelineOption(MlirStringRef pipeline, MlirStringRef name, MlirStringRef value,
                                                  MlirStringCallback callback, void *userData);

/// Returns, as text, the options of `ttir-to-ttnn-backend-pipeline` that the front ends of PyTorch and JAX set unless
/// the user sets them.
MLIR_CAPI_EXPORTED MlirStringRef ttmlirFrameworkOptions(void);

/// Serializes a module of TTNN programs and passes the bytes to `callback`. Fails with diagnostics on the module's
/// context.
MLIR_CAPI_EXPORTED MlirLogicalResult ttmlirTranslateToFlatbuffer(MlirOperation module, MlirStringCallback callback,
                                                                 void *userData);

/// Does the same for a module of TTMetal programs.
MLIR_CAPI_EXPORTED MlirLogicalResult ttmlirTranslateTTMetalToFlatbuffer(MlirOperation module,
                                                                        MlirStringCallback callback, void *userData);

/// Merges the flatbuffers of a program for `count` points into one that leaves `sizes` sizes open (OpenSizes.h).
/// `bounds` has the minimum and maximum of each size, `points` one value of each size for every file. Passes the bytes
/// to `callback`, and quotients of sizes to `quotient`; on failure, the reason why sizes cannot stay open. `searches`
/// receives the number of values for which an expression was searched.
typedef void (*TtmlirQuotientCallback)(int64_t period, bool isKnown, MlirStringRef place, void *userData);
MLIR_CAPI_EXPORTED MlirLogicalResult ttmlirOpenSizes(intptr_t count, const MlirStringRef *files, intptr_t sizes,
                                                     const MlirStringRef *names, const int64_t *bounds,
                                                     const int64_t *points, MlirStringCallback callback,
                                                     TtmlirQuotientCallback quotient, intptr_t *searches,
                                                     void *userData);

/// Prints the kernels of a module of TTMetal programs as C++.
MLIR_CAPI_EXPORTED MlirLogicalResult ttmlirTranslateKernelsToCpp(MlirOperation module, MlirStringCallback callback,
                                                                 void *userData);

/// Prints a module of the emitc dialect as C++, or one of the emitpy dialect as Python. If the module has several
/// files, `file` names the one to print; it is empty for a module with one file.
MLIR_CAPI_EXPORTED MlirLogicalResult ttmlirTranslateToCpp(MlirOperation module, MlirStringCallback callback,
                                                          void *userData);
MLIR_CAPI_EXPORTED MlirLogicalResult ttmlirTranslateToPython(MlirOperation module, MlirStringRef file,
                                                             MlirStringCallback callback, void *userData);

/// Writes the constants of such a module into a folder, which is created if there are any.
MLIR_CAPI_EXPORTED MlirLogicalResult ttmlirWriteTensorFiles(MlirOperation module, MlirStringRef folder);

/// Passes to `callback` the name of the op that the conversions produce for an op of TTIR, StableHLO or CHLO, or "rule"
/// if the name depends on the op. Does not call it for an op that is not lowered.
MLIR_CAPI_EXPORTED void ttmlirOpLowering(MlirStringRef name, MlirContext context, MlirStringCallback callback,
                                         void *userData);

/// Passes the text of the whole module to `callback` after every pass that runs in a context: the pass by its argument,
/// and the module with its locations. The context then uses one thread. `forget` is called with `userData` once no
/// further pass can be reported. A context has one log; a second call replaces it.
MLIR_CAPI_EXPORTED void ttmlirLogModules(MlirContext context,
                                         void (*callback)(MlirStringRef pass, MlirStringRef module, void *userData),
                                         void (*forget)(void *userData), void *userData);

/// Returns the StableHLO module of a portable artifact, or null after an error, which is emitted on the context.
MLIR_CAPI_EXPORTED MlirModule ttmlirDeserializePortableArtifact(MlirContext context, MlirStringRef bytes);

/// Passes the portable artifact of a StableHLO module, in a version MAJOR.MINOR.PATCH, to `callback`.
MLIR_CAPI_EXPORTED MlirLogicalResult ttmlirSerializePortableArtifact(MlirModule module, MlirStringRef version,
                                                                     MlirStringCallback callback, void *userData);

/// Whether bytes begin as those of a portable artefact.
MLIR_CAPI_EXPORTED bool ttmlirIsPortableArtifact(MlirStringRef bytes);

/// Passes the oldest version of artifacts that is read and written, or the newest one, to `callback`.
MLIR_CAPI_EXPORTED void ttmlirPortableArtifactVersion(bool newest, MlirStringCallback callback, void *userData);

#ifdef __cplusplus
}
#endif

#endif // TTMLIR_C_REGISTRATION_H
