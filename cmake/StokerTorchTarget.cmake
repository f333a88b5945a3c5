# How code that uses LibTorch is compiled and linked. Of the build, and installed for the component `network`.
#
# Not find_package(Torch): with the wheel, which is built with CUDA, it enables CUDA as a language of the
# project, asks for a toolkit even for a program that runs on CPUs, and CMake 3.25 does not know CUDA C++20.

# stoker_torch_target(<target> <path of libtorch_cpu>): the target's interface.
function(stoker_torch_target target torch_cpu)
  get_filename_component(lib ${torch_cpu} DIRECTORY)
  get_filename_component(root ${lib} DIRECTORY)
  # After the system's headers: the wheel carries copies of other libraries' headers, fmt's in another version than
  # the one that we link.
  target_compile_options(${target} INTERFACE
    "SHELL:-idirafter ${root}/include" "SHELL:-idirafter ${root}/include/torch/csrc/api/include"
    # Messages contain the names of these headers; where they lie is nobody's concern.
    -ffile-prefix-map=${root}/include/=)
  get_filename_component(real_root ${root} REALPATH)
  if(NOT real_root STREQUAL root)  # GCC names headers by their real paths
    target_compile_options(${target} INTERFACE -ffile-prefix-map=${real_root}/include/=)
  endif()
  stoker_link_cuda_of_torch(${target} ${torch_cpu})
  target_link_libraries(${target} INTERFACE -Wl,--no-as-needed ${torch_cpu} ${lib}/libc10.so -Wl,--as-needed)
endfunction()

# stoker_link_cuda_of_torch(<target> <path of libtorch_cpu>): libtorch_cpu finds the CUDA libraries that it names by itself; the
# linker has to be told.
function(stoker_link_cuda_of_torch target torch_cpu)
  get_filename_component(torch_cpu ${torch_cpu} REALPATH)
  get_filename_component(lib ${torch_cpu} DIRECTORY)
  file(GLOB cuda_libs ${lib}/../../nvidia/cu*/lib)
  list(TRANSFORM cuda_libs PREPEND "-Wl,-rpath-link,")
  target_link_options(${target} INTERFACE ${cuda_libs})
endfunction()

# stoker_find_torch_at_run_time(<target> <path of libtorch_cpu>): for programs that link a library of ours which needs LibTorch.
# They name LibTorch themselves: a program's path (RUNPATH) does not hold for what its libraries need.
function(stoker_find_torch_at_run_time target torch_cpu)
  get_filename_component(lib ${torch_cpu} DIRECTORY)
  target_link_options(${target} INTERFACE -Wl,-rpath-link,${lib} -Wl,-rpath,${lib})
  target_link_libraries(${target} INTERFACE -Wl,--no-as-needed ${torch_cpu} ${lib}/libc10.so -Wl,--as-needed)
  stoker_link_cuda_of_torch(${target} ${torch_cpu})
endfunction()

# stoker_torch_version(<variable> <folder with lib/ and include/>): "2.15.0"; empty where there are no headers.
function(stoker_torch_version variable root)
  set(version)
  foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
    if(NOT version AND EXISTS ${root}/include/${header})
      file(STRINGS ${root}/include/${header} lines REGEX "^#define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
      list(TRANSFORM lines REPLACE ".* ([0-9]+).*" "\\1")
      list(JOIN lines "." version)
    endif()
  endforeach()
  set(${variable} "${version}" PARENT_SCOPE)
endfunction()
