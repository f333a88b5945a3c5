# Stoker_TORCH_CPU, the libtorch_cpu.so for Stoker's components train and network. It is looked for in Torch_DIR, if that is
# set, else under CMAKE_PREFIX_PATH, where it was when Stoker was built, in STOKER_LIBTORCH of the environment, in the
# active Python environment, and beside Stoker: in lib/stoker/libtorch (archives), as the package torch (wheels).
if(Torch_DIR)  # <LibTorch>/share/cmake/Torch
  find_library(Stoker_TORCH_CPU torch_cpu PATHS ${Torch_DIR}/../../.. PATH_SUFFIXES lib NO_DEFAULT_PATH)
else()
  file(GLOB Stoker_TORCH_PLACES "$ENV{VIRTUAL_ENV}/lib/python3*/site-packages/torch")
  set(Stoker_TORCH_KNOWN)
  if(EXISTS "${PACKAGE_PREFIX_DIR}/lib/stoker/libtorch-path")
    file(STRINGS "${PACKAGE_PREFIX_DIR}/lib/stoker/libtorch-path" Stoker_TORCH_KNOWN)
  endif()
  # The last suffix: a prefix of torch.utils.cmake_prefix_path, <LibTorch>/share/cmake.
  find_library(Stoker_TORCH_CPU torch_cpu
    HINTS ${Stoker_TORCH_KNOWN} "$ENV{STOKER_LIBTORCH}" ${Stoker_TORCH_PLACES}
          "${PACKAGE_PREFIX_DIR}/lib/stoker/libtorch" "${PACKAGE_PREFIX_DIR}/../torch"
    PATH_SUFFIXES lib ../../lib)
  unset(Stoker_TORCH_KNOWN)
  unset(Stoker_TORCH_PLACES)
endif()
mark_as_advanced(Stoker_TORCH_CPU)
