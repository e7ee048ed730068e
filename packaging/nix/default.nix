# The Nix expression of Turnstile: `nix-build packaging/nix` builds the tree around it.
#
# SPDX-License-Identifier: Apache-2.0
{ pkgs ? import <nixpkgs> { } }:

pkgs.stdenv.mkDerivation rec {
  pname = "turnstile";
  # the one place for the version is meson.build
  version = builtins.head (builtins.match ".*version: '([0-9.]+)'.*" (builtins.readFile ../../meson.build));
  src = pkgs.lib.cleanSourceWith {
    src = ../..;
    filter = path: type: !(pkgs.lib.hasPrefix "build" (baseNameOf path));
  };
  outputs = [ "out" "dev" "man" ];
  nativeBuildInputs = [ pkgs.meson pkgs.ninja pkgs.pkg-config pkgs.python3 ];
  buildInputs = [ pkgs.libmicrohttpd pkgs.pcre2 pkgs.xxHash pkgs.yajl ];
  mesonFlags = [ "-Dtests=false" "-Dbench=false" "-Dpython=false" ];
  postInstall = ''
    python3 ../scripts/man.py $out/bin/turnstile $man/share/man/man1
  '';
  meta = {
    description = "Constrained decoding for language models: grammars as token masks";
    license = pkgs.lib.licenses.asl20;
    mainProgram = "turnstile";
    platforms = pkgs.lib.platforms.unix;
  };
}
