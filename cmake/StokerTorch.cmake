# LibTorch as the target stoker_torch: the torch wheel in .venv (scripts/setup), or any unpacked LibTorch given by
# -DCMAKE_PREFIX_PATH=<folder with lib/ and include/>.
include(StokerTorchTarget)
file(GLOB venv_torch ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
find_library(STOKER_TORCH_CPU torch_cpu HINTS ${venv_torch} PATH_SUFFIXES lib)
if(NOT STOKER_TORCH_CPU)
  message(FATAL_ERROR "LibTorch is missing: expected lib/libtorch_cpu.so in .venv or under CMAKE_PREFIX_PATH. "
    "Run scripts/setup, or configure with -DSTOKER_TRAINER=OFF for the feed alone.")
endif()
get_filename_component(torch_lib ${STOKER_TORCH_CPU} DIRECTORY)
get_filename_component(torch_root ${torch_lib} DIRECTORY)
stoker_torch_version(torch_version ${torch_root})
message(STATUS "LibTorch ${torch_version}: ${torch_root}")

add_library(stoker_torch INTERFACE)
stoker_torch_target(stoker_torch ${STOKER_TORCH_CPU})
# Its headers are not written for our warnings, templates of theirs in our code included.
target_compile_options(stoker_torch INTERFACE -Wno-shadow -Wno-conversion)

# LibTorch's headers cost seconds in every file.
if(STOKER_PRECOMPILE)
  stoker_headers(torch HEADERS <ATen/ATen.h> LIBRARIES stoker_torch)
  if(STOKER_TESTS)
    stoker_headers(torch_test HEADERS <ATen/ATen.h> <gmock/gmock.h> <gtest/gtest.h>
                   LIBRARIES stoker_torch GTest::gmock GTest::gtest)
  endif()
endif()
