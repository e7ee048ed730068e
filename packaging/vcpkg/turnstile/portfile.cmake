# The vcpkg port of Turnstile, for use out of a checkout:
#
#   vcpkg install turnstile --overlay-ports=packaging/vcpkg
#
# It builds the tree around it. A port in vcpkg's own list would take a released archive instead
# (vcpkg_download_distfile and vcpkg_extract_source_archive).
#
# SPDX-License-Identifier: Apache-2.0
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)
if(NOT EXISTS "${SOURCE_PATH}/include/turnstile.h")
  message(FATAL_ERROR "turnstile: ${SOURCE_PATH} is no checkout; use the port where it lies in the tree")
endif()

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DTURNSTILE_INSTALL=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME Turnstile CONFIG_PATH lib/cmake/Turnstile)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
