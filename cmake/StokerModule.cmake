# A module is a folder under stoker/, a static library stoker_<module>, and its tests.

# stoker_unity(<target>): where STOKER_UNITY is on, its sources share what they include and instantiate. Names of unnamed
# namespaces then meet; the preset dev proves that no source needs another.
function(stoker_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${STOKER_UNITY} UNITY_BUILD_BATCH_SIZE 24)
  if(STOKER_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC takes the sources for headers, and GCC 12 sees faults in strings where there are none. .ci/nightly has these warnings.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage -Wno-stringop-overread -Wno-maybe-uninitialized)
  endif()
endfunction()

# Those with parsers: libFuzzer sees which of their branches an input takes.
set(STOKER_FUZZED_MODULES core store image augment data io serve_plain)

# stoker_module(<name> [SEPARATE] SOURCES … HEADERS … USES <modules> LIBRARIES <targets> PRECOMPILED <set of StokerPrecompiled.cmake>)
# HEADERS are the public ones; the target all_verify_interface_header_sets compiles each alone. SEPARATE: its sources cannot
# be compiled together.
function(stoker_module name)
  cmake_parse_arguments(MODULE "SEPARATE" "PRECOMPILED" "SOURCES;HEADERS;USES;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  if(NOT MODULE_PRECOMPILED)
    set(MODULE_PRECOMPILED common)
  endif()
  set(target stoker_${name})
  add_library(${target} STATIC ${MODULE_SOURCES})
  add_library(stoker::${name} ALIAS ${target})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${MODULE_HEADERS})
  list(TRANSFORM MODULE_USES PREPEND stoker::)
  target_link_libraries(${target}
    PUBLIC stoker_compile ${MODULE_USES} ${MODULE_LIBRARIES} PRIVATE ${MODULE_PRIVATE_LIBRARIES})
  set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  stoker_use_headers(${target} ${MODULE_PRECOMPILED})
  if(NOT MODULE_SEPARATE)
    stoker_unity(${target})
  endif()
  if(STOKER_FUZZ AND name IN_LIST STOKER_FUZZED_MODULES)
    # What -fsanitize=fuzzer-no-link means. That itself would not agree with the precompiled headers.
    target_compile_options(${target} PRIVATE -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table)
  endif()
  # For the shared libraries (StokerPackage.cmake); programs that link the module statically see no difference.
  if(name IN_LIST STOKER_FEED_MODULES AND NOT STOKER_SANITIZE)
    set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  endif()
endfunction()

# source_dir() for tests. Not a definition on the command line: ccache would find no object again in another checkout.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/source_dir.cc @ONLY CONTENT
"namespace stoker {
const char* source_dir() { return \"@PROJECT_SOURCE_DIR@\"; }
}  // namespace stoker
")
add_library(stoker_source_dir STATIC ${PROJECT_BINARY_DIR}/source_dir.cc)

# stoker_test(<name> [TORCH] [SEPARATE] SOURCES … LIBRARIES … LABELS …): a GoogleTest program, every test known to ctest. TORCH: its
# sources include LibTorch.
function(stoker_test name)
  if(NOT STOKER_TESTS)
    return()
  endif()
  cmake_parse_arguments(TEST "TORCH;SEPARATE" "TIMEOUT" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 120)
  endif()
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE ${TEST_LIBRARIES} stoker_source_dir GTest::gmock GTest::gtest_main)
  if(TEST_TORCH)
    target_link_libraries(${name} PRIVATE stoker_torch)
    stoker_use_headers(${name} torch_test)
  else()
    stoker_use_headers(${name} test)
  endif()
  if(NOT TEST_SEPARATE)
    stoker_unity(${name})
  endif()
  # Less to compile. GCC 12 then takes an empty std::optional for one that is read.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1> $<$<CONFIG:Release>:-Wno-maybe-uninitialized>)
  # tests_feed, tests_threads …: all that a test preset with this label runs.
  foreach(label ${TEST_LABELS})
    if(NOT TARGET tests_${label})
      add_custom_target(tests_${label})
    endif()
    add_dependencies(tests_${label} ${name})
  endforeach()
  # One word: gtest_discover_tests cannot pass a list on. The presets look for a part of it.
  list(JOIN TEST_LABELS "+" label)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${label}" TIMEOUT ${TEST_TIMEOUT})
endfunction()

# stoker_benchmark(<name> SOURCES … LIBRARIES …): a Google Benchmark program.
function(stoker_benchmark name)
  if(NOT STOKER_BENCHMARKS)
    return()
  endif()
  cmake_parse_arguments(BENCH "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${BENCH_SOURCES})
  target_link_libraries(${name} PRIVATE ${BENCH_LIBRARIES} benchmark::benchmark_main)
endfunction()
