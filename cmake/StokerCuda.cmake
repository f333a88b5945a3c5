# STOKER_CUDA: kernels for GPUs with nvcc. Without nvcc they are left out, and what is left says so; the simulator
# tests of stoker/cuda run in either case.
find_program(STOKER_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
set(cuda_default OFF)
if(PROJECT_IS_TOP_LEVEL AND STOKER_NVCC AND NOT STOKER_SANITIZE)
  set(cuda_default ON)
endif()
option(STOKER_CUDA "Build the CUDA kernels; needs nvcc" ${cuda_default})
if(NOT STOKER_CUDA)
  if(STOKER_NVCC)
    message(STATUS "CUDA: not built (STOKER_CUDA is off); its kernels are tested in the simulator only")
  else()
    message(STATUS "CUDA: skipped, nvcc was not found; its kernels are tested in the simulator only")
  endif()
  return()
endif()
if(NOT STOKER_NVCC)
  message(FATAL_ERROR "STOKER_CUDA needs nvcc: expected it in PATH, in CUDA_HOME or in /usr/local/cuda. "
    "Install a CUDA toolkit, or configure with -DSTOKER_CUDA=OFF.")
endif()

# One PTX, assembled for every architecture that the toolkit knows, and kept for those that it does not know yet. The
# kernels use nothing that newer PTX has, so this costs one front end run instead of twelve, and what the tests
# interpret is what every GPU runs.
execute_process(COMMAND ${STOKER_NVCC} --list-gpu-code OUTPUT_VARIABLE cuda_codes OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" cuda_codes "${cuda_codes}")
set(STOKER_CUDA_CODES "${cuda_codes}" CACHE STRING "Architectures to assemble for: sm_75;sm_80;…")
list(JOIN STOKER_CUDA_CODES "," codes)
message(STATUS "CUDA: ${STOKER_NVCC}, ${codes}")

# The check of the compiler runs nothing on a GPU, and any architecture will do.
set(CMAKE_CUDA_ARCHITECTURES 75)
set(CMAKE_CUDA_COMPILER ${STOKER_NVCC})
# The shared runtime, which LibTorch has loaded already where both are in one process.
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
enable_language(CUDA)
# CMake 3.25 knows no C++20 for CUDA; nvcc does.
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)

# What the kernels take of a multiprocessor is read with cuobjdump, which scripts/setup puts into .venv.
file(GLOB cuda_tools ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu*/bin)
find_program(STOKER_CUOBJDUMP cuobjdump HINTS ${cuda_tools} PATHS /usr/local/cuda/bin)
if(NOT STOKER_CUOBJDUMP)
  message(STATUS "CUDA: cuobjdump was not found; the kernels' registers and shared memory are not checked")
endif()

# stoker_cuda_library(<name> SOURCES <.cu files> …)
function(stoker_cuda_library name)
  add_library(${name} STATIC ${ARGN})
  set_target_properties(${name} PROPERTIES CUDA_ARCHITECTURES OFF)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  # Warning 554: a conversion that its `requires` rules out.
  list(JOIN STOKER_CUDA_CODES "," codes)
  target_compile_options(${name} PRIVATE --diag-suppress=554 -Werror=all-warnings
    "SHELL:-gencode arch=compute_75,code=[compute_75,${codes}]")
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
    target_compile_options(${name} PRIVATE --compress-mode=size)  # a fifth of the bytes; the driver unpacks them
  endif()
endfunction()
