/* engine_api.js - the engine for the page: numbers and pointers become objects and errors.
 *
 * Everything is freed by hand: a grammar and its engine when the next one takes their place, a
 * vocabulary likewise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';

const KINDS = {schema: 0, regex: 1, gbnf: 2};
const REJECTED = 1,
  DEADLINE_MS = 2000;

class EngineError extends Error {
  constructor(status, message, {pointer = '', line = 0, column = 0} = {}) {
    super(message || status);
    Object.assign(this, {status, pointer, line, column});
  }
}

class EngineApi {
  static async start() {
    const packed = Uint8Array.from(atob(ENGINE_PACKED), (c) => c.charCodeAt(0));
    const wasmBinary = await new Response(
      new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip')),
    ).arrayBuffer();
    return new EngineApi(await createEngine({wasmBinary, printErr: (text) => console.warn(text)}));
  }

  constructor(module) {
    this.m = module;
    this.outcome = module._tp_outcome_new();
    this.encoder = new TextEncoder();
    this.decoder = new TextDecoder('utf-8', {fatal: true});
  }

  get version() {
    return this.m.UTF8ToString(this.m._tsl_version());
  }

  check(status) {
    if (!status) return;
    const {m, outcome} = this;
    throw new EngineError(
      m.UTF8ToString(m._tsl_status_name(status)),
      m.UTF8ToString(m._tp_message(outcome)),
      {
        pointer: m.UTF8ToString(m._tp_pointer(outcome)),
        line: m._tp_line(outcome),
        column: m._tp_column(outcome),
      },
    );
  }

  /* Call with a copy of bytes in the engine's memory. */
  withBytes(bytes, use) {
    const at = this.m._malloc(bytes.length || 1);
    if (!at) throw new EngineError('TSL_ERR_NO_MEMORY', 'out of memory');
    try {
      this.m.HEAPU8.set(bytes, at);
      return use(at, bytes.length);
    } finally {
      this.m._free(at);
    }
  }

  withText(text, use) {
    return this.withBytes(this.encoder.encode(text), use);
  }

  /* ---- vocabularies ---- */

  embedded() {
    this.check(this.m._tp_vocab_embedded(this.outcome));
    return this.vocabulary('embedded');
  }

  loadVocab(bytes, name) {
    this.withBytes(bytes, (at, length) =>
      this.withText(`${name}\0`, (text) =>
        this.check(this.m._tp_vocab_load(this.outcome, at, length, text)),
      ),
    );
    return this.vocabulary(name);
  }

  vocabulary(name) {
    const pointer = this.m._tp_vocab(this.outcome),
      size = this.m._tsl_vocab_size(pointer),
      first = new Int16Array(size).fill(-1),
      kinds = new Uint8Array(size);
    for (let i = 0; i < size; i++) {
      const at = this.m._tp_bytes(this.outcome, pointer, i);
      if (this.m._tp_length(this.outcome)) first[i] = this.m.HEAPU8[at];
      kinds[i] = this.m._tp_kind(pointer, i);
    }
    return {pointer, name, size, first, kinds, shown: new Map(), model: 0};
  }

  freeVocab(vocab) {
    this.m._tp_model_free(vocab.model);
    this.m._tsl_vocab_release(vocab.pointer);
  }

  bytes(vocab, token) {
    const at = this.m._tp_bytes(this.outcome, vocab.pointer, token);
    return this.m.HEAPU8.slice(at, at + this.m._tp_length(this.outcome));
  }

  /* A token as in a record: {id, text} or {id, hex}, special, end. */
  token(vocab, id) {
    let token = vocab.shown.get(id);
    if (token) return token;
    const bytes = this.bytes(vocab, id);
    token = {id};
    try {
      token.text = this.decoder.decode(bytes);
    } catch {
      token.hex = [...bytes].map((b) => b.toString(16).padStart(2, '0')).join('');
    }
    if (vocab.kinds[id] > 0) token.special = true;
    if (vocab.kinds[id] > 1) token.end = true;
    vocab.shown.set(id, token);
    return token;
  }

  encode(vocab, text) {
    return this.withText(text, (at, length) =>
      this.withBytes(new Uint8Array(4 * (length + 16)), (ids) => {
        this.outcomeMessage('this vocabulary cannot spell the text');
        this.check(this.m._tp_encode(this.outcome, vocab.pointer, at, length, ids, length + 16));
        return [...new Uint32Array(this.m.HEAPU8.buffer, ids, this.m._tp_length(this.outcome))];
      }),
    );
  }

  /* Calls that fill no error: what to say if they fail. */
  outcomeMessage(text) {
    const bytes = this.encoder.encode(`${text}\0`);
    this.m.HEAPU8.set(bytes, this.m._tp_message(this.outcome));
    this.m.HEAPU8[this.m._tp_pointer(this.outcome)] = 0;
  }

  /* ---- grammars ---- */

  compile(vocab, kind, text, {order = 0, whitespace = 1} = {}) {
    this.withText(text, (at, length) =>
      this.check(
        this.m._tp_compile(
          this.outcome,
          vocab.pointer,
          KINDS[kind],
          at,
          length,
          order,
          whitespace,
          DEADLINE_MS,
        ),
      ),
    );
    return this.m._tp_grammar(this.outcome);
  }

  freeGrammar(grammar) {
    this.m._tsl_grammar_release(grammar);
  }

  /* The rules of a GBNF grammar. */
  rules(vocab, text) {
    this.withText(text, (at, length) =>
      this.check(this.m._tp_read_rules(this.outcome, vocab.pointer, at, length)),
    );
    return JSON.parse(this.m.UTF8ToString(this.m._tp_rules(this.outcome))).rules;
  }

  /* ---- a text ---- */

  open(vocab, grammar, kind, seed, s) {
    if (!vocab.model) vocab.model = this.m._tp_model_new(vocab.pointer);
    const engine =
      vocab.model &&
      this.m._tp_open(
        vocab.pointer,
        vocab.model,
        grammar,
        KINDS[kind],
        seed,
        s.temperature,
        s.topK,
        s.topP,
        s.minP,
        s.penalty,
        0,
        s.frequency,
        s.presence,
        s.dry,
        s.dynamic,
        s.typical,
        s.sigma,
        s.epsilon,
        s.eta,
        s.xtc,
      );
    if (!engine) throw new EngineError('TSL_ERR_NO_MEMORY', 'no text can be begun: out of memory');
    return engine;
  }

  close(engine) {
    this.m._tp_close(engine);
  }
  restart(engine) {
    this.m._tp_restart(engine);
  }

  json(pointer) {
    return JSON.parse(this.m.UTF8ToString(pointer));
  }

  here(engine, measured) {
    const at = this.m._tp_here(engine, measured ? 1 : 0);
    if (!at)
      throw new EngineError(
        this.m.UTF8ToString(this.m._tsl_status_name(this.m._tp_status(engine))),
        'the mask could not be computed here',
      );
    return this.json(at);
  }

  mask(engine, vocab) {
    const at = this.m._tp_mask(engine);
    return new Uint32Array(this.m.HEAPU8.buffer, at, Math.ceil(vocab.size / 32));
  }

  /* false if the grammar does not allow it. */
  write(engine, token) {
    const status = this.m._tp_write(engine, token);
    if (status && status !== REJECTED)
      throw new EngineError(
        this.m.UTF8ToString(this.m._tsl_status_name(status)),
        'the token could not be written',
      );
    return !status;
  }

  next(engine) {
    const at = this.m._tp_next(engine);
    return at ? this.json(at) : null;
  }

  isOver(engine) {
    return Boolean(this.m._tp_is_over(engine));
  }
  follows(engine, bytes) {
    return this.withBytes(bytes, (at, length) => this.m._tp_follows(engine, at, length));
  }
  states(engine) {
    const at = this.m._tp_states(engine);
    return at ? this.json(at).states : [];
  }
}
