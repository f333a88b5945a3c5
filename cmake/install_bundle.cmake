# At installation, with `programs`, `libraries`, `bundle_folder` and `licence_folder` set: see StokerBundle.cmake.
file(GET_RUNTIME_DEPENDENCIES
  EXECUTABLES ${programs} LIBRARIES ${libraries}
  RESOLVED_DEPENDENCIES_VAR dependencies
  PRE_EXCLUDE_REGEXES "^lib(torch|c10|cud|cupti|nccl|gomp|stoker|jbig)"
  POST_EXCLUDE_REGEXES "/ld-linux[^/]*$" "/lib(c|m|dl|rt|pthread|resolv|util|stdc\\+\\+|gcc_s)\\.so[^/]*$")

# Compiled into our programs; the other packages are found by their libraries.
set(packages libcli11-dev nlohmann-json3-dev)
foreach(library ${dependencies})
  file(INSTALL ${library} DESTINATION ${bundle_folder} FOLLOW_SYMLINK_CHAIN)
  file(REAL_PATH ${library} real)
  # Debian 12 lists some files under / that lie under /usr.
  string(REGEX REPLACE "^/usr/lib/" "/lib/" short ${real})
  execute_process(COMMAND dpkg-query --search ${real} ${short} OUTPUT_VARIABLE owner ERROR_QUIET)
  if(NOT owner MATCHES "^([^:,\n]+)")
    message(FATAL_ERROR "Cannot find the licence of ${real}: expected a library of a Debian package.")
  endif()
  list(APPEND packages ${CMAKE_MATCH_1})
endforeach()
if(small_curl)
  list(APPEND packages libcurl4-openssl-dev)
endif()

list(REMOVE_DUPLICATES packages)
list(SORT packages)
foreach(package ${packages})
  set(text /usr/share/doc/${package}/copyright)
  if(NOT EXISTS ${text})
    message(FATAL_ERROR "The licence of ${package} is missing: expected ${text}.")
  endif()
  file(REAL_PATH ${text} text)
  file(INSTALL ${text} DESTINATION ${licence_folder} RENAME ${package}.txt)
  execute_process(COMMAND dpkg-query --show "--showformat=\${Package} \${Version}\\n" ${package} OUTPUT_VARIABLE line)
  string(APPEND versions "${line}")
endforeach()
file(WRITE ${licence_folder}/versions.txt "${versions}")
