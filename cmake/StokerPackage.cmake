# The shared libraries for other programs, and the installed package: find_package(Stoker COMPONENTS …), pkg-config.
#
# A component is a shared library, made of the objects of several modules: libstoker_feed, and libstoker, which contains the
# feed and trains. They are compiled with hidden
# symbols; what a public header marks with STOKER_API (stoker/export.h) is exported.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(STOKER_PACKAGE_DIR ${CMAKE_CURRENT_LIST_DIR})
set(STOKER_CONFIG_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Stoker)
# What only Stoker itself loads and starts. The same on every system: the program looks for it in ../lib/stoker.
set(STOKER_PRIVATE_DIR lib/stoker)

# Each is a component too, `local` and `bundle`, so that a build with tests can be packed as it is.
option(STOKER_LINK_LIBTORCH "What is installed looks for LibTorch where it is now, before other places" ON)
option(STOKER_BUNDLE "Install the shared libraries that a bare Linux lacks, with their licences" OFF)
option(STOKER_SMALL_CURL "Make a libcurl of HTTP and HTTPS alone from the system's libcurl.a: fewer libraries to carry" OFF)
option(STOKER_WHEEL "Install for site-packages/stoker: no symbolic links, which wheels cannot have" OFF)
if(NOT STOKER_LINK_LIBTORCH)
  # Linked as they are installed. Otherwise the length of the build's path changes the file, and two folders give two packages.
  set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
endif()
# The old kind of path in programs, which also holds for libraries of libraries.
if(PROJECT_IS_TOP_LEVEL)
  add_link_options(-Wl,--disable-new-dtags)
endif()

# Their objects make libstoker_feed. `cuda` is not among them: nothing of the feed uses it.
set(STOKER_FEED_MODULES core store image kernels augment data doctor pipeline io)
# stoker/feed.h and what it includes, and the C header of the preprocessing; the test Package.Headers compares.
set(STOKER_FEED_HEADERS
  stoker/export.h stoker/feed.h stoker/stoker_preprocess.h
  stoker/augment/framing.h stoker/augment/operation.h stoker/augment/policy.h stoker/augment/presets.h stoker/augment/registry.h
  stoker/core/data_order.h stoker/core/environment.h stoker/core/error.h stoker/core/philox.h stoker/core/result.h stoker/core/rng.h
  stoker/data/catalog.h stoker/data/division.h stoker/data/shards/shard_options.h
  stoker/data/sources/encoded_source.h stoker/data/sources/field_rows.h stoker/data/sources/fields.h stoker/data/sources/folder_source.h
  stoker/data/sources/image_folder.h stoker/data/sources/source.h stoker/data/sources/table_columns.h
  stoker/image/colour.h stoker/image/decode.h stoker/image/image.h
  stoker/kernels/blur/blur.h stoker/kernels/normalise/normalise.h stoker/kernels/resize/resize.h
  stoker/kernels/warp/affine.h stoker/kernels/warp/warp.h
  stoker/pipeline/batch.h stoker/pipeline/batch_memory.h stoker/pipeline/faults.h stoker/pipeline/feed.h
  stoker/pipeline/feed_stats.h stoker/pipeline/plan.h
  stoker/store/store_options.h)

# What stoker/train.h, stoker/predict.h and stoker/network.h include besides. The last one includes LibTorch's headers;
# programs that use it link Stoker::network.
set(STOKER_TRAIN_MODULES ${STOKER_FEED_MODULES} cuda nn_plain nn distributed train report run run_trainer)
set(STOKER_TRAIN_HEADERS ${STOKER_FEED_HEADERS}
  stoker/network.h stoker/predict.h stoker/stoker_predict.h stoker/train.h
  stoker/augment/box.h stoker/augment/mix.h stoker/core/setting.h stoker/core/task.h
  stoker/data/training_parts.h stoker/distributed/launch.h
  stoker/nn/loss_kind.h stoker/nn/preprocessing.h stoker/pipeline/normalise_settings.h
  stoker/run/record_options.h stoker/run/run_settings.h stoker/run/settings_file.h stoker/run/validation_settings.h
  stoker/train/options.h stoker/train/schedule.h)

# stoker_library(<component> NAME <lib…> MODULES <modules> HEADERS <public headers> DESCRIPTION <one line>)
# The target stoker_library_<component>, for users Stoker::<component>.
function(stoker_library component)
  cmake_parse_arguments(LIBRARY "" "NAME;DESCRIPTION" "MODULES;HEADERS" ${ARGN})
  set(target stoker_library_${component})
  set(objects ${LIBRARY_MODULES})
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:stoker_\\1>")
  set(modules ${LIBRARY_MODULES})
  list(TRANSFORM modules PREPEND stoker_)

  add_library(${target} SHARED ${objects})
  add_library(Stoker::${component} ALIAS ${target})
  # The modules again, for the libraries that they need. All of their objects are there already.
  target_link_libraries(${target} PRIVATE ${modules})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${LIBRARY_HEADERS})
  # Hidden symbols alone would leave templates of the standard library visible, whose namespace asks for that.
  set(symbols ${STOKER_PACKAGE_DIR}/symbols.map)
  target_link_options(${target} PRIVATE -Wl,--version-script=${symbols} -Wl,--gc-sections -Wl,--as-needed)
  # Before 1.0 a minor version may change the interface.
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE CXX OUTPUT_NAME ${LIBRARY_NAME} EXPORT_NAME ${component} LINK_DEPENDS ${symbols}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  if(NOT STOKER_WHEEL)
    set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION})
  endif()
  stoker_rpath(rpath ${CMAKE_INSTALL_LIBDIR})
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${rpath}")
  set_property(GLOBAL APPEND PROPERTY STOKER_COMPONENTS ${component})
  set_property(GLOBAL PROPERTY STOKER_DESCRIPTION_${component} "${LIBRARY_DESCRIPTION}")
  set_property(GLOBAL PROPERTY STOKER_NAME_${component} ${LIBRARY_NAME})
endfunction()

# stoker_install_namelink(<component>): lib<name>.so for the linker (pkg-config) as a text, where it cannot be a symbolic link.
function(stoker_install_namelink component)
  get_property(name GLOBAL PROPERTY STOKER_NAME_${component})
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/namelinks/lib${name}.so
    CONTENT "INPUT($<TARGET_SONAME_FILE_NAME:stoker_library_${component}>)\n")
  install(FILES ${PROJECT_BINARY_DIR}/namelinks/lib${name}.so DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component})
endfunction()

# stoker_install_component(<component>): library, public headers, CMake's target and pkg-config's file.
function(stoker_install_component component)
  set(namelink)
  if(STOKER_WHEEL)
    set(namelink NAMELINK_SKIP)
    stoker_install_namelink(${component})
  endif()
  install(TARGETS stoker_library_${component} EXPORT Stoker-${component}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component} ${namelink}
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ${component})
  install(EXPORT Stoker-${component} NAMESPACE Stoker:: DESTINATION ${STOKER_CONFIG_DESTINATION} COMPONENT ${component})

  get_property(STOKER_DESCRIPTION GLOBAL PROPERTY STOKER_DESCRIPTION_${component})
  get_property(STOKER_NAME GLOBAL PROPERTY STOKER_NAME_${component})
  set(STOKER_COMPONENT ${component})
  # From the folder of the file to the prefix, so that the prefix can be moved.
  file(RELATIVE_PATH STOKER_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(${STOKER_PACKAGE_DIR}/stoker.pc.in ${PROJECT_BINARY_DIR}/stoker-${component}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/stoker-${component}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT ${component})
endfunction()

# stoker_install_network(): the component `network`, which is `train` with LibTorch's headers (Stoker-network.cmake.in).
function(stoker_install_network)
  configure_file(${STOKER_PACKAGE_DIR}/Stoker-network.cmake.in ${PROJECT_BINARY_DIR}/Stoker-network.cmake @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/Stoker-network.cmake ${STOKER_PACKAGE_DIR}/StokerFindLibTorch.cmake
                ${STOKER_PACKAGE_DIR}/StokerTorchTarget.cmake
    DESTINATION ${STOKER_CONFIG_DESTINATION} COMPONENT train)
endfunction()

# stoker_install_package(): all components and the program.
function(stoker_install_package)
  get_property(components GLOBAL PROPERTY STOKER_COMPONENTS)
  foreach(component ${components})
    stoker_install_component(${component})
  endforeach()
  if("train" IN_LIST components)
    stoker_install_network()
    if(STOKER_LINK_LIBTORCH)
      # Read by stoker/cli/find_libtorch.cc and StokerFindLibTorch.cmake.
      file(WRITE ${PROJECT_BINARY_DIR}/libtorch-path "${torch_root}\n")
      install(FILES ${PROJECT_BINARY_DIR}/libtorch-path DESTINATION ${STOKER_PRIVATE_DIR} COMPONENT local)
    endif()
  endif()
  configure_package_config_file(${STOKER_PACKAGE_DIR}/StokerConfig.cmake.in ${PROJECT_BINARY_DIR}/StokerConfig.cmake
    INSTALL_DESTINATION ${STOKER_CONFIG_DESTINATION})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/StokerConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/StokerConfig.cmake ${PROJECT_BINARY_DIR}/StokerConfigVersion.cmake
    DESTINATION ${STOKER_CONFIG_DESTINATION} COMPONENT feed)

  if(TARGET stoker_curl)
    set_target_properties(stoker_curl PROPERTIES INSTALL_RPATH "$ORIGIN")
    install(TARGETS stoker_curl LIBRARY DESTINATION ${STOKER_PRIVATE_DIR} COMPONENT feed)
  endif()
  stoker_install_program()
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT feed)
  include(StokerBundle)
  stoker_install_bundle()
  if("train" IN_LIST components AND PROJECT_IS_TOP_LEVEL)
    stoker_install_libtorch()
  endif()
endfunction()

# The archive: `cpack` in the folder of the preset `package` (scripts/package_archive).
if(PROJECT_IS_TOP_LEVEL)
  string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
  set(CPACK_GENERATOR TZST)
  set(CPACK_PACKAGE_FILE_NAME stoker-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR})
  set(CPACK_STRIP_FILES ON)
  set(CPACK_ARCHIVE_THREADS 0)
  include(CPack)
endif()

# stoker_rpath(<variable> <folder of the file under the prefix>): where it finds libraries that a package carries.
function(stoker_rpath variable folder)
  file(RELATIVE_PATH to_private /${folder} /${STOKER_PRIVATE_DIR})
  string(REGEX REPLACE "/$" "" rpath "$ORIGIN/${to_private}")
  set(${variable} "${rpath}" PARENT_SCOPE)
endfunction()

# stoker_install_program(): `stoker`, which is for users, and what it starts and loads, which is not: the trainer and the
# libraries with CUDA in them.
function(stoker_install_program)
  if(NOT TARGET stoker)
    return()
  endif()
  stoker_rpath(rpath ${CMAKE_INSTALL_BINDIR})
  set_target_properties(stoker PROPERTIES INSTALL_RPATH "${rpath}")
  install(TARGETS stoker RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  stoker_rpath(rpath ${STOKER_PRIVATE_DIR})
  if(STOKER_WHEEL AND STOKER_CUDA)
    # CUDA's runtime of pip's packages, which come with torch, for the commands that do without LibTorch.
    string(REGEX MATCH "^[0-9]+" cuda_major ${CMAKE_CUDA_COMPILER_VERSION})
    list(APPEND rpath "$ORIGIN/../../../nvidia/cu${cuda_major}/lib")
  endif()
  foreach(target stoker_trainer stoker_gpu stoker_nccl)
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES INSTALL_RPATH "${rpath}")
      install(TARGETS ${target}
        RUNTIME DESTINATION ${STOKER_PRIVATE_DIR} COMPONENT program
        LIBRARY DESTINATION ${STOKER_PRIVATE_DIR} COMPONENT program)
    endif()
  endforeach()
  if(STOKER_WHEEL AND TARGET stoker_gpu)
    # CUDA's runtime of pip's packages, which come with torch, for the commands that do without LibTorch.
    string(REGEX MATCH "^[0-9]+" cuda_major ${CMAKE_CUDA_COMPILER_VERSION})
    set_property(TARGET stoker_gpu APPEND PROPERTY INSTALL_RPATH "$ORIGIN/../../../nvidia/cu${cuda_major}/lib")
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/python/log_run.py DESTINATION ${CMAKE_INSTALL_DATADIR}/stoker COMPONENT program)
  if(STOKER_WHEEL)  # what pip puts into the environment's bin
    install(PROGRAMS ${PROJECT_SOURCE_DIR}/python/stoker_command.py DESTINATION ${SKBUILD_SCRIPTS_DIR} RENAME stoker COMPONENT program)
  endif()
  stoker_install_texts()
endfunction()

# stoker_texts(): the manual page, the completions of shells and the help of the trainer's commands, which the program itself
# writes. `stoker` prints them without starting the trainer (stoker/cli/ready_text.h).
function(stoker_texts)
  set(folder ${PROJECT_BINARY_DIR}/texts)
  set(writer stoker)
  set(commands)
  if(TARGET stoker_trainer)
    set(writer stoker_trainer)
    set(commands train eval predict serve export sweep devices settings)
  endif()
  set(program ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${writer}>)
  # It may be linked with the paths of the installation (CMAKE_BUILD_WITH_INSTALL_RPATH).
  list(PREPEND program ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${CMAKE_LIBRARY_OUTPUT_DIRECTORY}:${torch_lib})
  set(lines COMMAND ${program} man > ${folder}/stoker.1)
  set(outputs ${folder}/stoker.1)
  foreach(shell bash zsh fish)
    list(APPEND lines COMMAND ${program} completion ${shell} > ${folder}/completion.${shell})
    list(APPEND outputs ${folder}/completion.${shell})
  endforeach()
  list(APPEND lines COMMAND ${program} --help > ${folder}/help.txt)
  list(APPEND outputs ${folder}/help.txt)
  foreach(command ${commands})
    list(APPEND lines COMMAND ${program} ${command} --help > ${folder}/help-${command}.txt)
    list(APPEND outputs ${folder}/help-${command}.txt)
  endforeach()
  add_custom_command(OUTPUT ${outputs} COMMAND ${CMAKE_COMMAND} -E make_directory ${folder} ${lines}
    DEPENDS ${writer} COMMENT "Writing the manual page, completions and help" VERBATIM)
  add_custom_target(stoker_texts ALL DEPENDS ${outputs})
  if(TARGET stoker_trainer)
    add_dependencies(stoker stoker_texts)  # else it would print old ones
  endif()
endfunction()

function(stoker_install_texts)
  set(folder ${PROJECT_BINARY_DIR}/texts)
  install(FILES ${folder}/stoker.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
  set(share ${CMAKE_INSTALL_DATADIR})
  install(FILES ${folder}/completion.bash DESTINATION ${share}/bash-completion/completions RENAME stoker COMPONENT program)
  install(FILES ${folder}/completion.zsh DESTINATION ${share}/zsh/vendor-completions RENAME _stoker COMPONENT program)
  install(FILES ${folder}/completion.fish DESTINATION ${share}/fish/vendor_completions.d RENAME stoker.fish COMPONENT program)
  install(DIRECTORY ${folder} DESTINATION ${STOKER_PRIVATE_DIR} COMPONENT program)
endfunction()
