# SPDX-License-Identifier: Apache-2.0
# Compiles nanobind's own library, which is a target of each folder that makes extensions, as one file: its headers are
# read once and not ten times (41 to 48 -> 7 s a folder).
function(ttmlir_unite_nanobind)
  get_property(_targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  list(FILTER _targets INCLUDE REGEX ^nanobind)
  if(NOT _targets)
    message(FATAL_ERROR "no library of nanobind in ${CMAKE_CURRENT_SOURCE_DIR}: call this behind the extensions")
  endif()
  set_target_properties(${_targets} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
endfunction()
