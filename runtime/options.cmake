# SPDX-License-Identifier: Apache-2.0
# Per-file flags of the kernels. The loops in these files are elementwise, or sum in an order they spell out, so that
# fused multiply-add and full-width vectors change no order of summation.
set(TTRT_VECTOR_SOURCES
    lib/sim/formats.cpp lib/kernels/elementwise/rows.cpp lib/kernels/elementwise/elementwise.cpp lib/tensor/storage.cpp
    lib/kernels/reduction/reduction.cpp lib/kernels/normalization/softmax.cpp
    lib/kernels/normalization/normalization.cpp lib/kernels/window/pooling.cpp lib/kernels/matmul/direct.cpp
    lib/kernels/matmul/panels.cpp lib/kernels/matmul/block_columns.cpp lib/kernels/attention/panels.cpp lib/core/panels/integers.cpp)
set_source_files_properties(${TTRT_VECTOR_SOURCES} PROPERTIES COMPILE_OPTIONS
                                                              "-O3;-ffp-contract=fast;-mprefer-vector-width=512")
# A precompiled header is for one level of optimisation, and in these builds that of the library is another.
if(TTRT_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL Debug)
  set_source_files_properties(${TTRT_VECTOR_SOURCES} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endif()
# An integer power is a loop of its own, which does not vectorise.
set_property(SOURCE lib/kernels/elementwise/rows.cpp APPEND PROPERTY COMPILE_OPTIONS -Wno-pass-failed)
# The units that panels choose at run time: nothing but these, whatever the machine that builds has.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(avx2 "-O3;-march=x86-64-v3")
  set(avx512 "${avx2};-mavx512f;-mavx512bw;-mavx512vl;-mprefer-vector-width=512")
  set_source_files_properties(lib/core/panels/avx2.cpp PROPERTIES COMPILE_OPTIONS "${avx2}")
  set_source_files_properties(lib/core/panels/depthwise_256.cpp PROPERTIES COMPILE_OPTIONS "${avx2}")
  set_source_files_properties(lib/core/panels/pixels_256.cpp PROPERTIES COMPILE_OPTIONS "${avx2}")
  set_source_files_properties(lib/core/panels/avx512.cpp PROPERTIES COMPILE_OPTIONS "${avx512}")
  set_source_files_properties(lib/core/panels/pairs.cpp PROPERTIES COMPILE_OPTIONS "${avx512};-mavx512bf16")
  set_source_files_properties(lib/core/panels/amx.cpp PROPERTIES COMPILE_OPTIONS "${avx512};-mamx-tile;-mamx-bf16")
  set_source_files_properties(lib/core/panels/depthwise_512.cpp PROPERTIES COMPILE_OPTIONS "${avx512}")
  set_source_files_properties(lib/core/panels/depthwise_bf16.cpp PROPERTIES COMPILE_OPTIONS "${avx512};-mavx512bf16")
  set_source_files_properties(lib/core/panels/words_avx2.cpp PROPERTIES COMPILE_OPTIONS "${avx2}")
  set_source_files_properties(lib/core/panels/words_avx2_vnni.cpp PROPERTIES COMPILE_OPTIONS "${avx2};-mavxvnni")
  set_source_files_properties(lib/core/panels/words_avx512.cpp PROPERTIES COMPILE_OPTIONS "${avx512}")
  set_source_files_properties(lib/core/panels/words_vnni.cpp PROPERTIES COMPILE_OPTIONS "${avx512};-mavx512vnni")
  set_source_files_properties(lib/kernels/exact/tiles_256.cpp PROPERTIES COMPILE_OPTIONS "${avx2}")
  set_source_files_properties(lib/kernels/exact/tiles_512.cpp PROPERTIES COMPILE_OPTIONS "${avx512}")
  # They share no precompiled header with files for the machine that builds.
  set_source_files_properties(
    lib/core/panels/avx2.cpp lib/core/panels/avx512.cpp lib/core/panels/pairs.cpp lib/core/panels/amx.cpp
    lib/core/panels/words_avx2.cpp lib/core/panels/words_avx2_vnni.cpp lib/core/panels/words_avx512.cpp
    lib/core/panels/words_vnni.cpp lib/core/panels/depthwise_256.cpp lib/core/panels/depthwise_512.cpp
    lib/core/panels/depthwise_bf16.cpp lib/core/panels/pixels_256.cpp lib/kernels/exact/tiles_256.cpp
    lib/kernels/exact/tiles_512.cpp
    PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endif()
