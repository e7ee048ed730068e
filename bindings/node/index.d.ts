// Turnstile in WebAssembly. What each call means and costs is said at length in turnstile.h. Every
// call throws TurnstileError for what the library refuses. A string with half a surrogate pair in
// it, which UTF-8 cannot say, is refused too (TSL_ERR_SYNTAX). So is a name with a NUL in it
// (TSL_ERR_ARGUMENT).
//
// SPDX-License-Identifier: Apache-2.0

/** Why a call failed: `status` is the name of a tsl_status, `pointer` the JSON pointer of the
 * keyword to blame ("": none). */
export class TurnstileError extends Error {
  status: string;
  pointer: string;
  offset: number;
  line: number;
  column: number;
}

interface Freed {
  /** Free now; without it, when collected. Using the object afterwards throws. */
  free(): void;
}

export interface Vocab extends Freed {
  readonly size: number;
  readonly logitsWidth: number;
  /** Words of a mask: token i is bit i % 32 of word i / 32. */
  readonly maskWords: number;
  readonly eog: number[];
  isSpecial(token: number): boolean;
  isEog(token: number): boolean;
  /** What a token spells; null for an id that is no token's. */
  bytes(token: number): Uint8Array | null;
  findSpecial(text: string): number | null;
  encode(text: string | Uint8Array | ArrayBuffer, options?: {special?: boolean}): Uint32Array;
}

/** What zod 4, Valibot and ArkType make: a schema that says itself as JSON Schema, and has a type
 * (https://standardschema.dev/json-schema). */
export interface StandardSchema<Input = unknown> {
  readonly '~standard': {
    readonly types?: {readonly input: Input} | undefined;
    readonly jsonSchema: {
      readonly input: (options: {target: 'draft-2020-12'}) => Record<string, unknown>;
    };
  };
}

/** T: what a text of it says. */
export interface Grammar<T = unknown> extends Freed {
  readonly vocab: Vocab;
  /** The value of a whole text of the grammar: of jsonSchema() what JSON.parse makes of it, else
   * the text itself. Throws TSL_REJECTED for any other text. */
  parse(text: string | Uint8Array | ArrayBuffer): T;
  /** What of a schema is enforced. */
  readonly report: {pointer: string; keyword: string; status: string; reason: string}[];
}

export interface Matcher extends Freed {
  fork(): Matcher;
  reset(): void;
  mask(): Uint32Array;
  /** Set what is not allowed to -Infinity. `logits` has vocab.logitsWidth elements. */
  applyMask(logits: Float32Array): void;
  /** false, and no change, if the token is not allowed. */
  accept(token: number): boolean;
  acceptBytes(bytes: string | Uint8Array | ArrayBuffer): boolean;
  /** How many of the leading tokens could be accepted. */
  validate(tokens: ArrayLike<number>): number;
  rollback(count: number): void;
  readonly history: number;
  readonly isComplete: boolean;
  readonly isTerminated: boolean;
  /** The bytes that must come next whatever is chosen. */
  forcedBytes(limit?: number): Uint8Array;
}

export interface Part {
  kind:
    | 'text'
    | 'reasoning'
    | 'call'
    | 'id'
    | 'arguments'
    | 'call_end'
    | 'tag'
    | 'tag_text'
    | 'tag_end';
  /** 0 for the first call. */
  call: number;
  /** Of 'call': the tool's name; of 'arguments': a piece of JSON, whatever the format. */
  text: string;
}

/** An answer read back by the states of its own grammar, of tags() or tools(). */
export interface Parser extends Freed {
  /** false, and no change, if the grammar does not allow it. */
  text(text: string | Uint8Array | ArrayBuffer): boolean;
  token(token: number): boolean;
  /** The text is over; false if it is not complete. */
  finish(): boolean;
  reset(): void;
  /** What became certain since the last time. */
  parts(): Part[];
  /** All parts so far. */
  readonly answer: {
    content: string;
    reasoning: string;
    calls: {id: string; name: string; arguments?: unknown; incomplete?: true}[];
    tags: {begin: string; content: string}[];
  };
}

export interface ToolsOptions {
  /** How the model writes calls: a name of toolPresets, or the JSON text of a preset. */
  preset: string;
  /** 'auto', 'required', 'none' or a tool's name; default: what the request says. */
  toolChoice?: string;
  parallel?: boolean | null;
  thinking?: 'auto' | 'on' | 'off';
  /** Of a thinking block; 0: what the request says, else any number. */
  maxThinkingTokens?: number;
  /** For answers that nobody constrained: a parser of the grammar refuses none, and mends. */
  lenient?: boolean;
  /** An earlier grammar of tags or tools of this vocabulary: what was found out about equal schemas
   * is kept. */
  over?: Grammar | null;
}

/** The constraint of a request, before it is compiled. */
export interface RequestSource {
  kind: 'json_schema' | 'regex' | 'gbnf' | 'lark' | 'ebnf' | 'tags';
  text: string;
  /** JSON pointer of the constraint, from the request's root. */
  pointer: string;
  /** The request wants no white space in JSON. */
  compact: boolean;
}

export interface SchemaOptions {
  order?: 'schema' | 'any';
  /** 'plain': none, one space, or at most two line breaks and 64 columns of indentation. */
  whitespace?: 'plain' | 'compact' | 'bounded' | 'pretty' | 'any';
  /** Characters for 'bounded', spaces a level for 'pretty'. */
  amount?: number;
  /** 'plain': numbers and strings as JSON.stringify writes them. */
  spelling?: 'plain' | 'any';
  /** Every JSON text of a valid value, for texts that are read. */
  generous?: boolean;
  ignoreFormats?: boolean;
  /** contentEncoding, a contentMediaType of JSON, and its contentSchema constrain strings. */
  assertContent?: boolean;
}

export interface Turnstile {
  readonly version: string;
  embeddedVocab(): Vocab;
  /** A tokenizer.json, *.gguf, tokenizer.model, tekken.json or *.tiktoken file's content. */
  loadVocab(data: Uint8Array | ArrayBuffer, name?: string): Vocab;
  /** A schema of zod, Valibot or ArkType: what its parser takes. Objects that list their members
   * have no others, unless the schema says so or several schemas speak of one object. */
  jsonSchema<S extends StandardSchema>(
    vocab: Vocab,
    schema: S,
    options?: SchemaOptions,
  ): Grammar<NonNullable<S['~standard']['types']>['input']>;
  /** A JSON Schema, or its text. T is the caller's word. */
  jsonSchema<T = unknown>(
    vocab: Vocab,
    schema: string | object | boolean,
    options?: SchemaOptions,
  ): Grammar<T>;
  regex(vocab: Vocab, pattern: string): Grammar<string>;
  gbnf(vocab: Vocab, text: string): Grammar<string>;
  ebnf(vocab: Vocab, text: string): Grammar<string>;
  abnf(vocab: Vocab, text: string): Grammar<string>;
  /** A Lark grammar; it imports what the library has. */
  lark(vocab: Vocab, text: string): Grammar<string>;
  /** What a request to a server constrains its answer to: the body that OpenAI's API, vLLM, SGLang,
   * llama.cpp's server or Ollama takes. Errors have the pointer into the request. */
  request(vocab: Vocab, body: string | object): Grammar;
  /** What `request` would compile. */
  readRequest(body: string | object): RequestSource;
  /** A structural tag: free text with JSON or other formats between tags. */
  tags(vocab: Vocab, tag: string | object, options?: {over?: Grammar | null}): Grammar;
  /** What a model may answer to a request: its body (OpenAI, Anthropic), MCP's tools/list, or an
   * array of tools. */
  tools(vocab: Vocab, request: string | object, options: ToolsOptions): Grammar;
  readonly toolPresets: string[];
  parser(grammar: Grammar): Parser;
  /** The content of a file that `turnstile compile` or saveGrammar wrote for the same vocabulary.
   * */
  loadGrammar(vocab: Vocab, data: Uint8Array | ArrayBuffer): Grammar;
  /** A grammar as the content of such a file. */
  saveGrammar(grammar: Grammar): Uint8Array;
  matcher(grammar: Grammar): Matcher;
}

/** Load turnstile.js and turnstile.wasm from `folder` (default: the package's dist); in a browser
 * turnstile.wasm from that address (default: that of the script dist/browser.js). */
export function load(options?: {folder?: string}): Promise<Turnstile>;

/** What <script src="dist/browser.js"> defines. */
export as namespace turnstile;
