/* Turnstile in JavaScript: handles on objects in WebAssembly's memory.
 *
 *     const turnstile = await require('turnstile-llm').load();
 *     const vocab = turnstile.loadVocab(fs.readFileSync('model.gguf'), 'model.gguf');
 *     const grammar = turnstile.jsonSchema(vocab, {type: 'integer'});
 *     const matcher = turnstile.matcher(grammar);
 *     matcher.applyMask(logits);    // a Float32Array, the model's: a denied token gets -Infinity
 *     matcher.accept(token);
 *
 * In a browser <script src="dist/browser.js"> defines `turnstile` in the place of require. Objects
 * are freed by free(), or when they are collected. See index.d.ts for what each call takes and
 * gives.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';

const REJECTED = 1,
  LIMIT = 8;
const THINKING = {auto: 0, on: 1, off: 2};
/* By the numbers of tsl_request_kind. */
const REQUEST_KINDS = {0: 'json_schema', 1: 'regex', 2: 'gbnf', 3: 'lark', 4: 'ebnf', 16: 'tags'};
const PARTS = 'text reasoning call id arguments call_end tag tag_text tag_end'.split(' ');
const WHITESPACE = {plain: 0, compact: 1, bounded: 2, pretty: 3, any: 4};
const SPELLING = {plain: 0, any: 1};
// that is, U+FEFF at the beginning is kept
const DECODER = new TextDecoder('utf-8', {ignoreBOM: true});

class TurnstileError extends Error {
  constructor(status, message, pointer = '', offset = 0, line = 0, column = 0) {
    super(
      `${line ? `${line}:${column}: ` : ''}${message} (${status})${pointer ? ` at ${pointer}` : ''}`,
    );
    Object.assign(this, {name: 'TurnstileError', status, pointer, offset, line, column});
  }
}

function refuse(message) {
  throw new TurnstileError('TSL_ERR_ARGUMENT', message);
}

/* WebAssembly would take any value for a number, and every number modulo 2^32. */
function number(value, what = 'a token') {
  if (!Number.isInteger(value) || value < 0 || value > 0xffffffff)
    refuse(`${what} is an integer from 0 to 2**32 - 1`);
  return value;
}

function string(value, what) {
  if (typeof value !== 'string') refuse(`${what} is a string`);
  return value;
}

/* A string as C has them. */
function name(value, what) {
  if (string(value, what).includes('\0')) refuse(`${what} has no NUL in it`);
  return `${value}\0`;
}

/* TextEncoder would write U+FFFD for half a surrogate pair, which is another text. */
function encoded(text) {
  if (/\p{Surrogate}/u.test(text))
    throw new TurnstileError('TSL_ERR_SYNTAX', 'half a surrogate pair is not a character');
  return new TextEncoder().encode(text);
}

/* The pointer of a handle of the right kind, of this library: in another one's memory it would be
 * anything. */
function live(handle, kind, library) {
  if (!(handle instanceof kind) || handle.library !== library) refuse(`expected a ${kind.name}`);
  return handle.live;
}

/* Something in WebAssembly's memory, with what it needs to live as long. */
class Handle {
  constructor(library, pointer, release) {
    this.library = library;
    this.pointer = pointer;
    this.release = release;
    library.registry.register(this, {release, pointer}, this);
  }

  get live() {
    if (!this.pointer)
      throw new TurnstileError('TSL_ERR_STATE', `this ${this.constructor.name} was freed`);
    return this.pointer;
  }

  free() {
    if (!this.pointer) return;
    this.library.registry.unregister(this);
    this.release(this.pointer);
    this.pointer = 0;
  }
}

class Vocab extends Handle {
  get size() {
    return this.library.module._tsl_vocab_size(this.live);
  }
  get logitsWidth() {
    return this.library.module._tsl_vocab_logits_width(this.live);
  }
  get maskWords() {
    return this.library.module._tsl_vocab_mask_words(this.live);
  }
  isSpecial(token) {
    return Boolean(this.library.module._tsl_vocab_is_special(this.live, number(token)));
  }
  isEog(token) {
    return Boolean(this.library.module._tsl_vocab_is_eog(this.live, number(token)));
  }

  get eog() {
    const {module, result} = this.library,
      ids = module._tn_eog(result, this.live);
    return [...new Uint32Array(module.HEAPU8.buffer, ids, module._tn_object(result))];
  }

  bytes(token) {
    const {module, result} = this.library,
      at = module._tn_bytes(result, this.live, number(token));
    return at ? module.HEAPU8.slice(at, at + module._tn_object(result)) : null;
  }

  findSpecial(text) {
    const id =
      this.library.withBytes(text, (at, length) =>
        this.library.module._tsl_vocab_find_special(this.live, at, length),
      ) >>> 0;
    return id === 0xffffffff ? null : id;
  }

  encode(text, {special = false} = {}) {
    const {library} = this,
      {module, result} = library;
    return library.withBytes(text, (at, length) => {
      for (let capacity = length + 4; ; ) {
        const ids = library.allocate(4 * capacity);
        try {
          const status = module._tn_encode(
              result,
              this.live,
              at,
              length,
              special ? 1 : 0,
              ids,
              capacity,
            ),
            count = module._tn_object(result) >>> 0;
          if (status === LIMIT && count > capacity) {
            capacity = count;
            continue;
          }
          library.check(status);
          return new Uint32Array(module.HEAPU8.slice(ids, ids + 4 * count).buffer);
        } finally {
          module._free(ids);
        }
      }
    });
  }
}

/* Keywords by which several schemas speak of one object. */
const COMPOSED = ['allOf', 'anyOf', 'oneOf', 'not', 'if', '$ref', 'dependentSchemas'],
  APPLIED = ['properties', '$defs', 'definitions', 'patternProperties'];

/* Objects of a JSON Schema that list their members, and say nothing of others, are closed. False,
 * and nothing is to be closed: a schema says of one object what another one adds to. */
function close(schema) {
  if (typeof schema !== 'object' || schema === null) return true;
  if (Array.isArray(schema)) return schema.every(close);
  const composed = COMPOSED.filter((keyword) => keyword in schema);
  if (schema.properties && composed.length) return false;
  if (composed.some((keyword) => !['anyOf', 'oneOf', '$ref'].includes(keyword))) return false;
  if (schema.properties && !('additionalProperties' in schema)) schema.additionalProperties = false;
  return (
    APPLIED.every((keyword) => Object.values(schema[keyword] || {}).every(close)) &&
    ['items', 'prefixItems', 'anyOf', 'oneOf', 'additionalProperties'].every((keyword) =>
      close(schema[keyword]),
    )
  );
}

/* A schema object of zod, Valibot or ArkType as JSON Schema, by the interface Standard JSON Schema:
 * what its parser takes. All else is a JSON Schema already. */
function asJsonSchema(schema) {
  const converter = schema?.['~standard']?.jsonSchema;
  if (!converter) return schema;
  const open = converter.input({target: 'draft-2020-12'}),
    closed = structuredClone(open);
  return close(closed) ? closed : open;
}

class Grammar extends Handle {
  /* What its matchers need of the vocabulary, whose handle may be freed before: the grammar holds
   * on to what that stands for. `read` makes the value of a text. */
  constructor(library, pointer, release, vocab, read) {
    super(library, pointer, release);
    this.read = read;
    this.vocab = vocab;
    this.words = vocab.maskWords;
    this.width = vocab.logitsWidth;
  }

  get report() {
    const {module} = this.library,
      report = module._tsl_grammar_report(this.live);
    if (!report) throw new RangeError('out of memory');
    return JSON.parse(module.UTF8ToString(report));
  }

  parse(text) {
    const matcher = this.library.matcher(this);
    try {
      if (!matcher.acceptBytes(text) || !matcher.isComplete)
        throw new TurnstileError('TSL_REJECTED', 'the grammar has no such text');
      return this.read(typeof text === 'string' ? text : DECODER.decode(text));
    } finally {
      matcher.free();
    }
  }
}

class Matcher extends Handle {
  constructor(library, pointer, release, grammar) {
    super(library, pointer, release);
    this.vocab = grammar.vocab;
    this.words = grammar.words;
    this.width = grammar.width;
  }

  fork() {
    const {library} = this;
    return new Matcher(
      library,
      library.make(library.module._tn_fork(library.result, this.live)),
      this.release,
      this,
    );
  }

  reset() {
    this.library.module._tsl_matcher_reset(this.live);
  }

  /* The mask, in WebAssembly's memory, passed to `use`. */
  withMask(use) {
    const {library} = this,
      at = library.allocate(4 * this.words);
    try {
      library.check(library.module._tsl_matcher_mask(this.live, at));
      return use(at);
    } finally {
      library.module._free(at);
    }
  }

  mask() {
    return this.withMask(
      (at) => new Uint32Array(this.library.module.HEAPU8.slice(at, at + 4 * this.words).buffer),
    );
  }

  applyMask(logits) {
    if (!(logits instanceof Float32Array) || logits.length !== this.width)
      refuse(`logits are a Float32Array of ${this.width} elements`);
    const {library} = this,
      {module} = library;
    this.withMask((mask) => {
      const at = library.allocate(4 * this.width);
      try {
        new Float32Array(module.HEAPU8.buffer, at, this.width).set(logits);
        library.check(module._tsl_mask_apply(mask, at, this.width, 0));
        logits.set(new Float32Array(module.HEAPU8.buffer, at, this.width));
      } finally {
        module._free(at);
      }
    });
  }

  accept(token) {
    return this.library.accepted(this.library.module._tsl_matcher_accept(this.live, number(token)));
  }

  acceptBytes(bytes) {
    return this.library.withBytes(bytes, (at, length) =>
      this.library.accepted(
        this.library.module._tsl_matcher_accept_bytes(this.live, at, length, 0),
      ),
    );
  }

  validate(tokens) {
    const {library} = this,
      ids = Uint32Array.from(tokens, (token) => number(token));
    return library.withBytes(new Uint8Array(ids.buffer), (at) =>
      library.make(library.module._tn_validate(library.result, this.live, at, ids.length)),
    );
  }

  rollback(count) {
    this.library.check(
      this.library.module._tsl_matcher_rollback(this.live, number(count, 'a count')),
    );
  }
  get history() {
    return this.library.module._tsl_matcher_history(this.live);
  }
  get isComplete() {
    return Boolean(this.library.module._tsl_matcher_is_complete(this.live));
  }
  get isTerminated() {
    return Boolean(this.library.module._tsl_matcher_is_terminated(this.live));
  }

  forcedBytes(limit = 4096) {
    const {library} = this,
      {module} = library,
      at = library.allocate(number(limit, 'a limit'));
    try {
      const length = library.make(module._tn_forced_bytes(library.result, this.live, at, limit));
      return module.HEAPU8.slice(at, at + length);
    } finally {
      module._free(at);
    }
  }
}

/* An answer read back by the states of its own grammar. */
class Parser extends Handle {
  constructor(library, pointer, release, grammar) {
    super(library, pointer, release);
    this.grammar = grammar;
  }

  text(text) {
    return this.library.withBytes(text, (at, length) =>
      this.library.accepted(this.library.module._tsl_parser_text(this.live, at, length)),
    );
  }
  token(token) {
    return this.library.accepted(this.library.module._tsl_parser_token(this.live, number(token)));
  }
  finish() {
    return this.library.accepted(this.library.module._tsl_parser_finish(this.live));
  }
  reset() {
    this.library.module._tsl_parser_reset(this.live);
  }

  parts() {
    const {module, result} = this.library,
      found = [];
    for (let kind; (kind = module._tn_part(result, this.live)) >= 0; ) {
      const at = module._tn_part_text(result) >>> 0,
        length = module._tn_part_length(result) >>> 0;
      found.push({
        kind: PARTS[kind],
        call: module._tn_part_call(result) >>> 0,
        text: DECODER.decode(module.HEAPU8.slice(at, at + length)),
      });
    }
    return found;
  }

  get answer() {
    const {module} = this.library,
      json = module._tsl_parser_json(this.live);
    if (!json) throw new TurnstileError('TSL_ERR_NO_MEMORY', 'out of memory');
    return JSON.parse(module.UTF8ToString(json));
  }
}

class Turnstile {
  constructor(module) {
    this.module = module;
    this.registry = new FinalizationRegistry(({release, pointer}) => release(pointer));
    this.result = module._tn_result_new();
    if (!this.result) throw new TurnstileError('TSL_ERR_NO_MEMORY', 'out of memory');
  }

  get version() {
    return this.module.UTF8ToString(this.module._tsl_version());
  }

  embeddedVocab() {
    return this.vocabOf(this.module._tn_vocab_embedded(this.result));
  }

  loadVocab(data, file = '') {
    return this.withBytes(data, (at, length) =>
      this.withBytes(name(file, 'name'), (text) =>
        this.vocabOf(this.module._tn_vocab_load(this.result, at, length, text)),
      ),
    );
  }

  jsonSchema(
    vocab,
    schema,
    {
      order = 'schema',
      whitespace = 'plain',
      amount = 0,
      spelling = 'plain',
      generous = false,
      ignoreFormats = false,
      assertContent = false,
    } = {},
  ) {
    if (
      !Object.hasOwn(WHITESPACE, whitespace) ||
      !Object.hasOwn(SPELLING, spelling) ||
      !['schema', 'any'].includes(order)
    )
      refuse('an unknown order, whitespace or spelling');
    return this.compile(
      asJsonSchema(schema),
      (at, length) =>
        this.module._tn_json_schema(
          this.result,
          live(vocab, Vocab, this),
          at,
          length,
          order === 'any' ? 1 : 0,
          WHITESPACE[whitespace],
          number(amount, 'amount'),
          SPELLING[spelling],
          generous ? 1 : 0,
          ignoreFormats ? 1 : 0,
          assertContent ? 1 : 0,
        ),
      vocab,
      JSON.parse,
    );
  }

  regex(vocab, pattern) {
    return this.compile(
      string(pattern, 'a pattern'),
      (at, length) => this.module._tn_regex(this.result, live(vocab, Vocab, this), at, length),
      vocab,
    );
  }
  gbnf(vocab, text) {
    return this.compile(
      string(text, 'a grammar'),
      (at, length) => this.module._tn_gbnf(this.result, live(vocab, Vocab, this), at, length),
      vocab,
    );
  }
  abnf(vocab, text) {
    return this.compile(
      string(text, 'a grammar'),
      (at, length) => this.module._tn_abnf(this.result, live(vocab, Vocab, this), at, length),
      vocab,
    );
  }
  ebnf(vocab, text) {
    return this.compile(
      string(text, 'a grammar'),
      (at, length) => this.module._tn_ebnf(this.result, live(vocab, Vocab, this), at, length),
      vocab,
    );
  }

  lark(vocab, text) {
    return this.compile(
      string(text, 'a grammar'),
      (at, length) => this.module._tn_lark(this.result, live(vocab, Vocab, this), at, length),
      vocab,
    );
  }

  request(vocab, body) {
    return this.compile(
      body,
      (at, length) => this.module._tn_request(this.result, live(vocab, Vocab, this), at, length),
      vocab,
    );
  }

  readRequest(body) {
    const {module, result} = this,
      text = typeof body === 'string' ? body : JSON.stringify(body);
    this.withBytes(string(text, 'a request'), (at, length) =>
      this.make(module._tn_request_read(result, at, length)),
    );
    const at = module._tn_source_text(result) >>> 0,
      length = module._tn_source_length(result) >>> 0;
    return {
      kind: REQUEST_KINDS[module._tn_source_kind(result)],
      text: DECODER.decode(module.HEAPU8.slice(at, at + length)),
      pointer: module.UTF8ToString(module._tn_source_pointer(result)),
      compact: Boolean(module._tn_source_compact(result)),
    };
  }

  tags(vocab, tag, {over = null} = {}) {
    return this.compile(
      tag,
      (at, length) =>
        this.module._tn_tags(
          this.result,
          live(vocab, Vocab, this),
          at,
          length,
          over ? live(over, Grammar, this) : 0,
        ),
      vocab,
    );
  }

  tools(
    vocab,
    request,
    {
      preset,
      toolChoice = '',
      parallel = null,
      thinking = 'auto',
      maxThinkingTokens = 0,
      lenient = false,
      over = null,
    } = {},
  ) {
    if (!Object.hasOwn(THINKING, thinking)) refuse('thinking is auto, on or off');
    return this.withBytes(name(preset, 'a preset'), (how) =>
      this.withBytes(name(toolChoice, 'toolChoice'), (choice) =>
        this.compile(
          request,
          (at, length) =>
            this.module._tn_tools(
              this.result,
              live(vocab, Vocab, this),
              at,
              length,
              how,
              choice,
              parallel === null ? 0 : parallel ? 1 : -1,
              THINKING[thinking],
              number(maxThinkingTokens, 'maxThinkingTokens'),
              lenient ? 1 : 0,
              over ? live(over, Grammar, this) : 0,
            ),
          vocab,
        ),
      ),
    );
  }

  get toolPresets() {
    const names = [];
    for (let at; (at = this.module._tn_preset(names.length)); )
      names.push(this.module.UTF8ToString(at));
    return names;
  }

  parser(grammar) {
    return new Parser(
      this,
      this.make(this.module._tn_parser(this.result, live(grammar, Grammar, this))),
      this.module._tsl_parser_free,
      grammar,
    );
  }

  loadGrammar(vocab, data) {
    return new Grammar(
      this,
      this.make(
        this.withBytes(data, (at, length) =>
          this.module._tn_grammar_load(this.result, live(vocab, Vocab, this), at, length),
        ),
      ),
      this.module._tsl_grammar_release,
      vocab,
      String,
    );
  }

  saveGrammar(grammar) {
    const {module} = this,
      artifact = this.make(module._tn_artifact(this.result, live(grammar, Grammar, this))),
      at = module._tn_artifact_data(artifact) >>> 0;
    try {
      return module.HEAPU8.slice(at, at + (module._tn_artifact_size(artifact) >>> 0));
    } finally {
      module._tsl_artifact_free(artifact);
    }
  }

  matcher(grammar) {
    return new Matcher(
      this,
      this.make(this.module._tn_matcher(this.result, live(grammar, Grammar, this))),
      this.module._tsl_matcher_free,
      grammar,
    );
  }

  /* ---- inside ---- */

  vocabOf(status) {
    return new Vocab(this, this.make(status), this.module._tsl_vocab_release);
  }

  compile(text, call, vocab, read = String) {
    const source = typeof text === 'string' ? text : JSON.stringify(text);
    if (source === undefined) refuse('expected text, or what JSON can hold');
    return new Grammar(
      this,
      this.make(this.withBytes(source, call)),
      this.module._tsl_grammar_release,
      vocab,
      read,
    );
  }

  /* The object of the last call that made one. */
  make(status) {
    this.check(status, true);
    return this.module._tn_object(this.result) >>> 0;
  }

  check(status, explained = false) {
    if (!status) return;
    const {module, result} = this,
      name = module.UTF8ToString(module._tsl_status_name(status));
    const message = explained ? module.UTF8ToString(module._tn_message(result)) : '';
    throw new TurnstileError(
      name,
      message || name,
      explained ? module.UTF8ToString(module._tn_pointer(result)) : '',
      explained ? module._tn_offset(result) : 0,
      explained ? module._tn_line(result) : 0,
      explained ? module._tn_column(result) : 0,
    );
  }

  accepted(status) {
    if (status === REJECTED) return false;
    this.check(status);
    return true;
  }

  allocate(size) {
    // WebAssembly would take sizes modulo 2^32
    const at = size <= 0xffffffff ? this.module._malloc(size || 1) : 0;
    if (!at) throw new TurnstileError('TSL_ERR_NO_MEMORY', 'out of memory');
    return at;
  }

  /* Call with a copy of text (as UTF-8) or bytes in WebAssembly's memory. */
  withBytes(data, use) {
    const bytes =
      typeof data === 'string'
        ? encoded(data)
        : data instanceof ArrayBuffer
          ? new Uint8Array(data)
          : data;
    if (!(bytes instanceof Uint8Array)) refuse('expected a string, a Uint8Array or an ArrayBuffer');
    const at = this.allocate(bytes.length);
    try {
      this.module.HEAPU8.set(bytes, at);
      return use(at, bytes.length);
    } finally {
      this.module._free(at);
    }
  }
}

/* Load the WebAssembly module; `folder` holds turnstile.wasm, and turnstile.js (default: dist). In
 * dist/browser.js that script stands before this one: there the folder is an address. */
async function load({folder} = {}) {
  if (typeof createTurnstile === 'function')
    return new Turnstile(
      await createTurnstile(
        folder === undefined ? {} : {locateFile: (file) => `${folder}/${file}`},
      ),
    );
  const path = require('path'),
    at = folder === undefined ? path.join(__dirname, 'dist') : folder,
    create = require(path.resolve(at, 'turnstile.js'));
  return new Turnstile(
    await create({wasmBinary: require('fs').readFileSync(path.join(at, 'turnstile.wasm'))}),
  );
}

module.exports = {load, Turnstile, TurnstileError};
