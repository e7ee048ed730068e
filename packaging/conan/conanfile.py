"""The conan recipe of Turnstile.

    conan create packaging/conan

It exports the tree around it, and builds it with its CMakeLists.txt. PCRE2, yajl and xxHash are
compiled into the library from the folder that `./dev amalgamate --vendor` makes. So the package
needs no other one. Run that command before. A recipe in conan's own index would take a released
archive, which holds the same files.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib

from conan import ConanFile
from conan.errors import ConanException
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Turnstile(ConanFile):
    name = "turnstile"
    description = "Constrained decoding for language models: grammars as token masks"
    license = "Apache-2.0"
    topics = ("llm", "json-schema", "grammar", "constrained-decoding")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    implements = ["auto_shared_fpic"]
    languages = "C"

    def set_version(self):
        text = load(self, str(ROOT / "meson.build"))
        self.version = text.split("version: '", 1)[1].split("'", 1)[0]

    def export_sources(self):
        vendor = ROOT / "build" / "amalgamation" / "vendor"
        if not vendor.is_dir():
            raise ConanException(
                "build/amalgamation/vendor is not there: ./dev amalgamate --vendor"
            )
        for part in ("runtime", "compiler", "include", "schemas", "scripts/cmake"):
            copy(self, "*", str(ROOT / part), os.path.join(self.export_sources_folder, part))
        for name in ("CMakeLists.txt", "meson.build", "LICENSE"):
            copy(self, name, str(ROOT), self.export_sources_folder)
        copy(self, "*", str(vendor), os.path.join(self.export_sources_folder, "vendor"))

    def layout(self):
        cmake_layout(self)

    def generate(self):
        tools = CMakeToolchain(self)
        tools.cache_variables["TURNSTILE_VENDOR"] = os.path.join(self.source_folder, "vendor")
        tools.cache_variables["TURNSTILE_INSTALL"] = True
        tools.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        licences = os.path.join(self.package_folder, "licenses")
        copy(self, "LICENSE", self.source_folder, licences)
        copy(self, "LICENCES", os.path.join(self.source_folder, "vendor"), licences)

    def package_info(self):
        self.cpp_info.libs = ["turnstile"]
        self.cpp_info.set_property("cmake_file_name", "Turnstile")
        self.cpp_info.set_property("cmake_target_name", "Turnstile::turnstile")
        self.cpp_info.set_property("pkg_config_name", "turnstile")
        if self.settings.os == "Windows":
            self.cpp_info.system_libs = ["advapi32"]
            if self.options.shared:
                self.cpp_info.defines = ["TSL_USE_DLL"]
        elif self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["m", "pthread"]
