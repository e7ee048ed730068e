# The Homebrew formula of Turnstile, for use out of a checkout that git has:
#
#   brew install --HEAD packaging/homebrew/turnstile.rb
#
# A formula in a tap would name a released archive by `url` and `sha256` instead of `head`.
#
# SPDX-License-Identifier: Apache-2.0
class Turnstile < Formula
  desc "Constrained decoding for language models: grammars as token masks"
  license "Apache-2.0"
  head "file://#{File.expand_path("../..", __dir__)}", using: :git

  depends_on "meson" => :build
  depends_on "ninja" => :build
  depends_on "pkg-config" => :build
  depends_on "libmicrohttpd"
  depends_on "pcre2"
  depends_on "xxhash"
  depends_on "yajl"

  def install
    options = ["-Dtests=false", "-Dbench=false", "-Dpython=false"]
    system "meson", "setup", "build", *options, *std_meson_args
    system "meson", "compile", "-C", "build", "--verbose"
    system "meson", "install", "-C", "build"
    system "python3", "scripts/man.py", bin/"turnstile", "man"
    man1.install Dir["man/*.1"]
  end

  test do
    (testpath/"schema.json").write '{"type": "integer", "minimum": 18}'
    (testpath/"text").write "42"
    system bin/"turnstile", "check", "--schema", "schema.json", "text"
  end
end
