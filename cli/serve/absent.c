/* absent.c - in the place of the server where libmicrohttpd was not there when the tool was built.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/serve/http.h"

int http_serve(const engine_settings *model, const http_settings *settings) {
  (void)model, (void)settings;
  return cli_complain("serve: not built with libmicrohttpd: install it (Debian: apt-get install "
                      "libmicrohttpd-dev), then `meson setup --reconfigure build` and build again");
}
