// RUN: ttmlir-opt --version | FileCheck %s --check-prefix=OPT
// RUN: ttmlir-translate --version | FileCheck %s --check-prefix=TRANSLATE
// RUN: ttmlir-lsp-server --version | FileCheck %s --check-prefix=LSP

// OPT: {{^}}ttmlir-opt {{[0-9]+\.[0-9]+\.[0-9]+}} (LLVM 22.{{.*}})
// TRANSLATE: {{^}}ttmlir-translate {{[0-9]+\.[0-9]+\.[0-9]+}} (LLVM 22.{{.*}})
// LSP: {{^}}ttmlir-lsp-server {{[0-9]+\.[0-9]+\.[0-9]+}} (LLVM 22.{{.*}})
