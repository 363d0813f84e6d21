// RUN: ttmlir-translate %s --ttnn-to-flatbuffer --split-input-file --verify-diagnostics -o %t

// expected-error@+1 {{module has no ttcore.device @default_device; run ttcore-register-device first}}
module {
}
