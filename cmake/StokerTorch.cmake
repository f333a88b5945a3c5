# LibTorch as the target stoker_torch: the torch wheel in .venv (scripts/setup), or any unpacked LibTorch given by
# -DCMAKE_PREFIX_PATH=<folder with lib/ and include/>.
#
# Not find_package(Torch): with the wheel, which is built with CUDA, it enables CUDA as a language of the
# project, asks for a toolkit even for a program that runs on CPUs, and CMake 3.25 does not know CUDA C++20.
file(GLOB venv_torch ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
find_library(STOKER_TORCH_CPU torch_cpu HINTS ${venv_torch} PATH_SUFFIXES lib)
if(NOT STOKER_TORCH_CPU)
  message(FATAL_ERROR "LibTorch is missing: expected lib/libtorch_cpu.so in .venv or under CMAKE_PREFIX_PATH. "
    "Run scripts/setup, or configure with -DSTOKER_TRAINER=OFF for the feed alone.")
endif()
get_filename_component(torch_lib ${STOKER_TORCH_CPU} DIRECTORY)
get_filename_component(torch_root ${torch_lib} DIRECTORY)
message(STATUS "LibTorch: ${torch_root}")

add_library(stoker_torch INTERFACE)
# After the system's headers: the wheel carries copies of other libraries' headers, fmt's in another version than
# the one that we link.
target_compile_options(stoker_torch INTERFACE
  "SHELL:-idirafter ${torch_root}/include" "SHELL:-idirafter ${torch_root}/include/torch/csrc/api/include")
# libtorch_cpu finds the CUDA libraries that it names by itself; the linker has to be told.
file(GLOB torch_cuda_libs ${torch_root}/../nvidia/cu*/lib)
list(TRANSFORM torch_cuda_libs PREPEND "-Wl,-rpath-link,")
target_link_options(stoker_torch INTERFACE ${torch_cuda_libs})
target_link_libraries(stoker_torch INTERFACE
  -Wl,--no-as-needed ${STOKER_TORCH_CPU} ${torch_lib}/libc10.so -Wl,--as-needed)
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
