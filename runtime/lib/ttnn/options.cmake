# Per-file flags of the kernels. The loops in these files are elementwise, or sum in an order they spell out, so that
# fused multiply-add and full-width vectors change no order of summation.
set_source_files_properties(
  lib/sim/formats.cpp lib/ttnn/elementwise_rows.cpp lib/ttnn/elementwise.cpp lib/ttnn/storage.cpp
  lib/ttnn/reduction.cpp lib/ttnn/softmax.cpp lib/ttnn/normalization.cpp lib/ttnn/pooling.cpp lib/ttnn/matmul_direct.cpp
  lib/ttnn/matmul_panels.cpp lib/ttnn/attention_panels.cpp
  PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=fast;-mprefer-vector-width=512")
# An integer power is a loop of its own, which does not vectorise.
set_property(SOURCE lib/ttnn/elementwise_rows.cpp APPEND PROPERTY COMPILE_OPTIONS -Wno-pass-failed)
# The units that panels choose at run time: nothing but these, whatever the machine that builds has.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(avx2 "-O3;-march=x86-64-v3")
  set(avx512 "${avx2};-mavx512f;-mavx512bw;-mavx512vl;-mprefer-vector-width=512")
  set_source_files_properties(lib/ttnn/panels_avx2.cpp PROPERTIES COMPILE_OPTIONS "${avx2}")
  set_source_files_properties(lib/ttnn/panels_avx512.cpp PROPERTIES COMPILE_OPTIONS "${avx512}")
  set_source_files_properties(lib/ttnn/panels_pairs.cpp PROPERTIES COMPILE_OPTIONS "${avx512};-mavx512bf16")
  set_source_files_properties(lib/ttnn/panels_amx.cpp PROPERTIES COMPILE_OPTIONS "${avx512};-mamx-tile;-mamx-bf16")
endif()
