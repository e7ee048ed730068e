# The command line tool in a small image.
#
#   docker build -t turnstile .
#   docker run --rm -i turnstile lint --schema - < schema.json
#
# SPDX-License-Identifier: Apache-2.0
FROM debian:12-slim AS build
RUN apt-get update \
  && apt-get install -y --no-install-recommends \
    gcc libc6-dev libmicrohttpd-dev libpcre2-dev libxxhash-dev libyajl-dev meson ninja-build pkg-config python3 \
  && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN meson setup /build /source --prefix=/usr --buildtype=release -Ddefault_library=static -Dtests=false -Dbench=false \
  && ninja -C /build turnstile

FROM debian:12-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends libmicrohttpd12 libpcre2-8-0 libyajl2 \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /build/turnstile /usr/bin/turnstile
USER nobody
ENTRYPOINT ["turnstile"]
