# What `cmake --install` and the packages contain, and find_package(Croqtile) of it.
include(CMakePackageConfigHelpers)

set(config_dir lib/cmake/Croqtile)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/croqtile-config.cmake.in ${PROJECT_BINARY_DIR}/croqtile-config.cmake
  INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/croqtile-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/croqtile-config.cmake
              ${PROJECT_BINARY_DIR}/croqtile-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/ChoreoAddKernel.cmake DESTINATION ${config_dir})

if(EXISTS ${PROJECT_SOURCE_DIR}/runtime/include/choreo)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/choreo DESTINATION include
          FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh" PATTERN "*.inc")
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/kernels)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/kernels DESTINATION share/croqtile
          PATTERN "CMakeLists.txt" EXCLUDE)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
        DESTINATION share/doc/croqtile)

set(CPACK_PACKAGE_NAME croqtile)
set(CPACK_PACKAGE_VENDOR Croqtile)
set(CPACK_PACKAGE_CONTACT "Croqtile authors <croqtile@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}, with the compiler choreo")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_SOURCE_DIR}/dist)
set(CPACK_GENERATOR TGZ)
find_program(DPKG_PROGRAM dpkg)
if(DPKG_PROGRAM)
  list(APPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++ (>= 4:12)")
include(CPack)
