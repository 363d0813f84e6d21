# Precompiled headers. Reading the op headers of the dialects takes a pass most of the time that it takes to compile.
#
# The header is compiled as the only file of an object library, with the options that its users have, and they name it as
# seen from the build folder, in which Ninja runs. A precompiled header remembers where the files are that it read, and
# is refused when they are gone: what ccache keeps of it must not serve a clone elsewhere.

option(TTMLIR_PRECOMPILE "Precompile the op headers (with clang and Ninja)" ON)
if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang OR NOT CMAKE_GENERATOR STREQUAL Ninja)
  set(TTMLIR_PRECOMPILE OFF)
endif()

# Every object library below `folders` uses `header`. DEPENDS: targets that generate what it includes.
function(ttmlir_precompile target header)
  cmake_parse_arguments(ARG "" "" "DEPENDS;FOLDERS" ${ARGN})
  if(NOT TTMLIR_PRECOMPILE)
    return()
  endif()
  set_source_files_properties(${header} PROPERTIES LANGUAGE CXX)
  add_library(${target} OBJECT ${header})
  add_dependencies(${target} ${ARG_DEPENDS})
  # Without times in it, it is the same whenever it is made; the map changes nothing but that ccache sees the folder.
  target_compile_options(${target} PRIVATE "SHELL:-x c++-header" -fpch-instantiate-templates
                                           "SHELL:-Xclang -fno-pch-timestamp"
                                           "-fmacro-prefix-map=${CMAKE_BINARY_DIR}=.")
  # Ninja waits for what a custom target depends on, and not for the objects of a library.
  add_custom_target(${target}_made DEPENDS $<TARGET_OBJECTS:${target}>)
  file(RELATIVE_PATH here "${CMAKE_BINARY_DIR}" "${CMAKE_CURRENT_BINARY_DIR}")
  foreach(folder ${ARG_FOLDERS})
    _ttmlir_use_precompiled(${target} "${here}/CMakeFiles/${target}.dir/${header}${CMAKE_CXX_OUTPUT_EXTENSION}"
                            "${CMAKE_CURRENT_SOURCE_DIR}/${folder}")
  endforeach()
endfunction()

function(_ttmlir_use_precompiled target file folder)
  get_property(users DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(user ${users})
    get_target_property(type ${user} TYPE)
    if(type STREQUAL OBJECT_LIBRARY)
      target_compile_options(${user} PRIVATE "SHELL:-include-pch ${file}")
      # Files that were compiled with it name it among what they depend on.
      add_dependencies(${user} ${target}_made)
    endif()
  endforeach()
  get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(inner ${folders})
    _ttmlir_use_precompiled(${target} "${file}" "${inner}")
  endforeach()
endfunction()
