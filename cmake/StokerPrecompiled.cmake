# Headers that many files include are compiled once, ahead of all. Code includes what it uses as if this were not there;
# the preset clang, which precompiles nothing, proves it.
#
# A precompiled header serves code with the same definitions and -fPIC, at all levels of optimisation but none. Clang asks
# for the same visibility of symbols as well, which modules have only with sanitizers.
option(STOKER_PRECOMPILE "Compile headers that many files include ahead of them (GCC, or Clang with sanitizers)" ON)
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT STOKER_SANITIZE)
  set(STOKER_PRECOMPILE OFF)
endif()

set(STOKER_COMMON_HEADERS
  <algorithm> <array> <charconv> <chrono> <cmath> <filesystem> <fstream> <functional> <map> <memory> <mutex> <numeric>
  <optional> <set> <span> <string> <string_view> <thread> <utility> <vector> <fmt/format.h> <fmt/ranges.h>)

# stoker_headers(<set> HEADERS <besides the common ones> LIBRARIES <that have them>)
function(stoker_headers name)
  cmake_parse_arguments(SET "" "" "HEADERS;LIBRARIES" ${ARGN})
  set(empty ${PROJECT_BINARY_DIR}/precompiled_${name}.cc)
  file(CONFIGURE OUTPUT ${empty} CONTENT "// Empty: only its precompiled header counts.\n")
  add_library(stoker_headers_${name} OBJECT ${empty})
  target_link_libraries(stoker_headers_${name} PRIVATE stoker_compile fmt::fmt Threads::Threads ${SET_LIBRARIES})
  target_precompile_headers(stoker_headers_${name} PRIVATE ${STOKER_COMMON_HEADERS} ${SET_HEADERS})
endfunction()

# stoker_use_headers(<target> <set>)
function(stoker_use_headers target name)
  if(NOT STOKER_PRECOMPILE)
    return()
  endif()
  target_compile_options(${target} PRIVATE -fPIC)  # programs have -fPIE otherwise
  target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # ccache looks through the header instead of refusing it
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 sees endless copies in std::string where there are none (GCC bug 105329), and for a precompiled header
    # forgets that warnings of system headers are off. Clang has warnings of its own for both.
    target_compile_options(${target} PRIVATE -Wno-stringop-overflow -Wno-array-bounds)
    if(STOKER_SANITIZE)
      target_compile_options(${target} PRIVATE -Wno-stringop-overread -Wno-maybe-uninitialized)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM stoker_headers_${name})
endfunction()

if(STOKER_PRECOMPILE)
  stoker_headers(common)
  if(STOKER_PROGRAM)
    stoker_headers(json HEADERS <nlohmann/json.hpp> LIBRARIES nlohmann_json::nlohmann_json)
  endif()
  if(STOKER_TESTS)
    stoker_headers(test HEADERS <gmock/gmock.h> <gtest/gtest.h> LIBRARIES GTest::gmock GTest::gtest)
  endif()
endif()
