# The shared libraries of others that our programs load, copied into the package with their licences, for systems that do not
# have them. Not among them: the C and C++ libraries, which every system has, and LibTorch with what belongs to it.
#
# Debian's copies are taken, because Debian keeps them secure: a new release takes the newest.

# stoker_install_bundle(): the component `bundle`; runs at installation (install_bundle.cmake).
function(stoker_install_bundle)
  set(only_if_asked EXCLUDE_FROM_ALL)
  if(STOKER_BUNDLE)
    set(only_if_asked)
  endif()
  set(libraries)
  set(programs)
  foreach(target stoker_library_feed stoker_library_train stoker_curl)
    if(TARGET ${target})
      list(APPEND libraries $<TARGET_FILE:${target}>)
    endif()
  endforeach()
  foreach(target stoker stoker_trainer)
    if(TARGET ${target})
      list(APPEND programs $<TARGET_FILE:${target}>)
    endif()
  endforeach()
  install(TARGETS stoker_jbig LIBRARY DESTINATION ${STOKER_PRIVATE_DIR} COMPONENT bundle NAMELINK_SKIP ${only_if_asked})
  install(CODE "
set(programs \"${programs}\")
set(libraries \"${libraries}\")
set(small_curl \"${STOKER_SMALL_CURL}\")
set(bundle_folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${STOKER_PRIVATE_DIR}\")
set(licence_folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}/licences\")
include(\"${STOKER_PACKAGE_DIR}/install_bundle.cmake\")" COMPONENT bundle ${only_if_asked})
endfunction()

# stoker_install_libtorch(): LibTorch's libraries for CPUs as the component `libtorch`, which is only installed where it is
# asked for, for sites without Python. From a torch wheel: its libtorch_cpu names two libraries of CUDA, which are
# taken from their wheels and load nothing where there is no driver.
function(stoker_install_libtorch)
  set(folder ${STOKER_PRIVATE_DIR}/libtorch)
  get_filename_component(packages ${torch_root} DIRECTORY)
  file(GLOB cuda_libraries ${packages}/nvidia/cu*/lib/libcudart.so.* ${packages}/nvidia/cu*/lib/libcupti.so.*)
  install(FILES ${torch_lib}/libtorch_cpu.so ${torch_lib}/libc10.so ${torch_lib}/libgomp.so.1 ${cuda_libraries}
    DESTINATION ${folder}/lib COMPONENT libtorch EXCLUDE_FROM_ALL)
  file(WRITE ${PROJECT_BINARY_DIR}/build-version "${torch_version}\n")
  install(FILES ${PROJECT_BINARY_DIR}/build-version DESTINATION ${folder} COMPONENT libtorch EXCLUDE_FROM_ALL)
  foreach(package torch nvidia_cuda_runtime nvidia_cuda_cupti)
    file(GLOB texts ${packages}/${package}-*.dist-info/licenses)
    if(NOT texts)
      continue()  # an unpacked LibTorch is no wheel; "/" would be the whole system
    endif()
    install(DIRECTORY ${texts}/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences/${package} COMPONENT libtorch EXCLUDE_FROM_ALL)
  endforeach()
endfunction()
