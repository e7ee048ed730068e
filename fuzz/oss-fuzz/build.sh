#!/usr/bin/env bash
# build.sh - the fuzz targets as OSS-Fuzz wants them: programs, seeds and dictionaries in $OUT.
#
# Given by its images: CC, CXX, CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE, SRC, WORK and OUT. It runs
# anywhere where these are set, and $SRC/turnstile is this tree. TARGETS: names of targets, without
# fuzz_; all of them if it is not set.
# The images in which targets run have none of the libraries that the image for building has. So
# these go to $OUT/lib, where the programs look for them.
#
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$SRC/turnstile"

engine=$LIB_FUZZING_ENGINE
# an engine that is an archive is written in C++, and C programs are linked without that library
case $engine in *.a) engine="$engine -lc++" ;; esac
case ${CXXFLAGS:-} in *-stdlib=libc++*) engine="$engine -stdlib=libc++" ;; esac

rm -rf "$WORK/turnstile"
meson setup "$WORK/turnstile" -Doptimization=0 -Ddebug=false -Dfuzz=true \
  "-Dfuzz_engine=$engine" -Dtests=false -Dcli=false -Dbench=false -Dserve=disabled \
  -Db_lundef=false -Ddefault_library=static
targets=(${TARGETS:-})
if [ ${#targets[@]} -eq 0 ]; then
  for file in fuzz/fuzz_*.c; do
    name=${file##*/fuzz_}
    targets+=("${name%.c}")
  done
fi
ninja -C "$WORK/turnstile" "${targets[@]/#/fuzz/fuzz_}"

mkdir -p "$OUT/lib"
for name in "${targets[@]}"; do
  program=$OUT/fuzz_$name
  cp "$WORK/turnstile/fuzz/fuzz_$name" "$program"
  ldd "$program" | awk '/yajl|pcre2|xxhash/ { print $3 }' | xargs -r cp -Lt "$OUT/lib"
  if [ -d "fuzz/corpus/$name" ]; then
    (cd "fuzz/corpus/$name" && python3 -m zipfile -c "${program}_seed_corpus.zip" ./*)
  fi
  if [ -f "fuzz/dict/$name.dict" ]; then cp "fuzz/dict/$name.dict" "$program.dict"; fi
done
