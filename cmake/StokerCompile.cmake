# How all code of the project is compiled: `stoker_compile` carries the flags to every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(STOKER_CCACHE ccache)
mark_as_advanced(STOKER_CCACHE)
if(STOKER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness is what ccache asks for to work with precompiled headers.
  set(ccache_settings CCACHE_SLOPPINESS=pch_defines,time_macros)
  # Paths are made relative, so that every checkout on a machine finds the objects of the others. Not for packages
  # (StokerPackage.cmake): names of files in messages would depend on whether ccache is there.
  set(relative_default ON)
  if(DEFINED STOKER_LINK_LIBTORCH AND NOT STOKER_LINK_LIBTORCH)
    set(relative_default OFF)
  endif()
  # An option, so that a build keeps it: with another one, everything would be compiled again (scripts/package_wheel --from).
  option(STOKER_RELATIVE_CCACHE "ccache makes paths relative to this checkout" ${relative_default})
  mark_as_advanced(STOKER_RELATIVE_CCACHE)
  if(STOKER_RELATIVE_CCACHE)
    list(APPEND ccache_settings CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1)
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env ${ccache_settings} ${STOKER_CCACHE})
endif()

add_library(stoker_compile INTERFACE)
target_include_directories(stoker_compile INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(stoker_compile INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
  # One rounding per operation on every machine: a fused multiply-add would make results depend on
  # the instruction set.
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in std::string where there are none (GCC bug 105651).
  target_compile_options(stoker_compile INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(stoker_compile INTERFACE -Wno-unknown-warning-option)  # some are turned off that only GCC has
endif()
# Paths of this machine stand in no program: messages of LibTorch's headers contain the names of their files.
target_compile_options(stoker_compile INTERFACE -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(NOT STOKER_SANITIZE)
  # What distributions ask for: overflows end the program, and tables of addresses cannot be written.
  target_compile_options(stoker_compile INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong> $<$<COMPILE_LANGUAGE:CXX>:-fstack-clash-protection>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-U_FORTIFY_SOURCE> $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-D_FORTIFY_SOURCE=2>)
  add_link_options(-Wl,-z,relro,-z,now -Wl,-z,noexecstack)
endif()
# See stoker/core/condition_wait.cc.
target_link_options(stoker_compile INTERFACE -Wl,--wrap=_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE)
if(STOKER_WERROR)
  target_compile_options(stoker_compile INTERFACE -Werror)
endif()
if(STOKER_SANITIZE)
  target_compile_options(stoker_compile INTERFACE
    -fsanitize=${STOKER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(stoker_compile INTERFACE -fsanitize=${STOKER_SANITIZE})
endif()
