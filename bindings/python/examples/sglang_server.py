"""SGLang: its server, with Turnstile as the grammar backend.

    python sglang_server.py --model-path MODEL --grammar-backend turnstile

Requests then take `response_format` (OpenAI's API) or `sampling_params: {"json_schema": ...}` as
ever. This starts SGLang's own server, which needs what SGLang needs; what it does with the backend
is exercised in tests/hosts/python/test_sglang.py.

SPDX-License-Identifier: Apache-2.0
"""

import sys

import turnstile.sglang

# before the server parses its arguments, and in every process that it spawns, which import this
# file
turnstile.sglang.register()

if __name__ == "__main__":
    from sglang.srt.entrypoints.http_server import launch_server
    from sglang.srt.server_args import prepare_server_args

    launch_server(prepare_server_args(sys.argv[1:]))
