# The shared libraries of others that our programs load, copied into the package with their licences, for systems that do not
# have them. Not among them: the C and C++ libraries, which every system has, and LibTorch with what belongs to it.
#
# Debian's copies are taken, because Debian keeps them secure: a new release takes the newest.

# stoker_install_bundle(): runs when the package is installed (cmake/install_bundle.cmake).
function(stoker_install_bundle)
  set(libraries)
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
  install(CODE "
set(programs \"${programs}\")
set(libraries \"${libraries}\")
set(bundle_folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${STOKER_PRIVATE_DIR}\")
set(licence_folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}/licences\")
include(\"${STOKER_PACKAGE_DIR}/install_bundle.cmake\")" COMPONENT feed)
endfunction()
