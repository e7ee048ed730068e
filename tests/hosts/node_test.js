/* The package bindings/node against the library. host_node.py runs it, and validates the texts that
 * it prints.
 *
 *     node --test node_test.js      $TURNSTILE_DIST: the folder of turnstile.wasm; $TURNSTILE_GGUF:
 *     a vocabulary of llama.cpp, or unset
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';
const assert = require('assert'),
  fs = require('fs'),
  test = require('node:test');
const {load, TurnstileError} = require('../../bindings/node');

const SCHEMA = {
  type: 'object',
  properties: {
    name: {type: 'string', maxLength: 20},
    tags: {type: 'array', items: {enum: ['a', 'b', 'é']}, minItems: 1, maxItems: 4},
    when: {type: 'string', format: 'date'},
  },
  required: ['name', 'tags', 'when'],
  additionalProperties: false,
};

const loaded = load({folder: process.env.TURNSTILE_DIST});

/* Even draws under the mask, to the end. */
function generate(vocab, matcher, random) {
  const parts = [];
  let tokens = 0;
  for (; !matcher.isTerminated; tokens++) {
    const logits = new Float32Array(vocab.logitsWidth);
    matcher.applyMask(logits);
    const allowed = [...logits.keys()].filter((token) => logits[token] === 0),
      token = allowed[Math.floor(random() * allowed.length)];
    assert(matcher.accept(token) && tokens < 1000);
    if (!vocab.isEog(token)) parts.push(Buffer.from(vocab.bytes(token)));
  }
  return [Buffer.concat(parts).toString(), tokens];
}

function generator(seed) {
  return () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 4294967296;
}

test('texts of a schema', async () => {
  const turnstile = await loaded,
    vocab = turnstile.embeddedVocab(),
    grammar = turnstile.jsonSchema(vocab, SCHEMA, {whitespace: 'compact'});
  const random = generator(7);
  for (let i = 0; i < 20; i++) {
    const matcher = turnstile.matcher(grammar),
      [text, tokens] = generate(vocab, matcher, random);
    console.log(`text ${tokens} ${Buffer.from(text).toString('hex')}`);
    matcher.reset();
    assert(matcher.acceptBytes(text) && matcher.isComplete);
    matcher.free();
  }
  assert(Array.isArray(grammar.report));
});

test('moves of a matcher', async () => {
  const turnstile = await loaded,
    vocab = turnstile.embeddedVocab();
  const matcher = turnstile.matcher(turnstile.regex(vocab, '(ab)+')),
    [a, b] = [97, 98],
    end = vocab.eog[0];
  const allows = (m, token) => Boolean((m.mask()[token >> 5] >>> (token & 31)) & 1);
  assert(allows(matcher, a) && !allows(matcher, b) && !allows(matcher, end));
  assert(!matcher.accept(b) && matcher.accept(a));
  assert.deepStrictEqual([...matcher.forcedBytes()], [b]);
  assert(matcher.accept(b) && matcher.isComplete && allows(matcher, end));
  const fork = matcher.fork();
  assert.strictEqual(fork.validate([a, b, end]), 3);
  assert.strictEqual(fork.validate([a, a]), 1);
  assert(fork.accept(a) && !fork.isComplete && matcher.isComplete);
  fork.rollback(2);
  assert.strictEqual(fork.history, 1);
  assert(fork.accept(b) && matcher.accept(end) && matcher.isTerminated);
  matcher.free();
  matcher.free();
  assert.throws(() => matcher.mask(), {status: 'TSL_ERR_STATE'});
  assert.throws(() => fork.applyMask(new Float32Array(3)), {status: 'TSL_ERR_ARGUMENT'});
});

test('vocabulary and GBNF', async () => {
  const turnstile = await loaded,
    vocab = turnstile.embeddedVocab();
  assert.strictEqual(vocab.size, 4096);
  assert.strictEqual(vocab.maskWords, 128);
  const ids = vocab.encode('Hello, wörld'),
    text = Buffer.concat([...ids].map((id) => Buffer.from(vocab.bytes(id)))).toString();
  assert.strictEqual(text, 'Hello, wörld');
  assert.strictEqual(vocab.encode('').length, 0);
  assert.strictEqual(vocab.bytes(4096), null);
  assert.strictEqual(vocab.findSpecial('no such token'), null);
  const matcher = turnstile.matcher(turnstile.gbnf(vocab, 'root ::= "yes" | "no"'));
  assert(matcher.acceptBytes('no') && matcher.isComplete && !matcher.acceptBytes('!'));
});

/* What zod, Valibot and ArkType make, as far as it matters here. */
const standard = (schema) => ({
  '~standard': {version: 1, vendor: 'test', jsonSchema: {input: () => schema}},
});

test('schemas of other libraries, and values', async () => {
  const turnstile = await loaded,
    vocab = turnstile.embeddedVocab();
  const compile = (schema) =>
    turnstile.jsonSchema(vocab, standard(schema), {whitespace: 'compact'});
  const point = {type: 'object', properties: {x: {type: 'integer'}}, required: ['x']};
  const points = compile({type: 'array', items: point});
  assert.deepStrictEqual(points.parse('[{"x":1},{"x":-2}]'), [{x: 1}, {x: -2}]);
  assert(!('additionalProperties' in point));
  for (const text of ['[{"x":1,"y":2}]', '[{"x":1}', '[{"x":"1"}]'])
    assert.throws(() => points.parse(text), {status: 'TSL_REJECTED'});
  /* left open: where the schema says so, and where several schemas speak of one object */
  const more = {x: 1, y: 2};
  for (const schema of [
    {...point, additionalProperties: {}},
    {allOf: [point, {type: 'object', properties: {y: {type: 'integer'}}}]},
    {...point, anyOf: [{required: ['y']}, {required: ['z']}]},
  ])
    assert.deepStrictEqual(compile(schema).parse(JSON.stringify(more)), more);
  const closed = compile({$defs: {p: point}, anyOf: [{$ref: '#/$defs/p'}, {type: 'null'}]});
  assert.deepStrictEqual([closed.parse('{"x":3}'), closed.parse('null')], [{x: 3}, null]);
  assert.throws(() => closed.parse(JSON.stringify(more)), {status: 'TSL_REJECTED'});
  const word = turnstile.regex(vocab, '[a-z]+');
  assert.strictEqual(word.parse('abc'), 'abc');
  assert.strictEqual(word.parse(new TextEncoder().encode('abc')), 'abc');
  assert.throws(() => word.parse('abc1'), {status: 'TSL_REJECTED'});
});

test('artifacts', async () => {
  const turnstile = await loaded,
    vocab = turnstile.embeddedVocab();
  const compiled = turnstile.jsonSchema(vocab, SCHEMA, {whitespace: 'compact'}),
    data = turnstile.saveGrammar(compiled);
  assert.strictEqual(new TextDecoder().decode(data.slice(0, 7)), 'TSLGRAM');
  const one = turnstile.matcher(compiled),
    other = turnstile.matcher(turnstile.loadGrammar(vocab, data));
  for (const character of '{"') {
    assert.deepStrictEqual(other.mask(), one.mask());
    assert(one.acceptBytes(character) && other.acceptBytes(character));
  }
  assert.throws(() => turnstile.loadGrammar(vocab, data.slice(0, data.length - 1)), {
    status: 'TSL_ERR_FORMAT',
  });
});

test('errors say where', async () => {
  const turnstile = await loaded,
    vocab = turnstile.embeddedVocab();
  assert.throws(
    () => turnstile.jsonSchema(vocab, {properties: {a: {minimum: 'x'}}}),
    (e) =>
      e instanceof TurnstileError &&
      e.status === 'TSL_ERR_SCHEMA' &&
      e.pointer === '/properties/a/minimum',
  );
  assert.throws(() => turnstile.jsonSchema(vocab, '{\n  ]'), {status: 'TSL_ERR_SYNTAX', line: 2});
  assert.throws(() => turnstile.loadVocab(Buffer.from('hello')), {status: 'TSL_ERR_FORMAT'});
  assert.throws(() => turnstile.jsonSchema(vocab, true, {whitespace: 'none'}), {
    status: 'TSL_ERR_ARGUMENT',
  });
});

test('values of the wrong type', async () => {
  const turnstile = await loaded,
    vocab = turnstile.embeddedVocab(),
    grammar = turnstile.regex(vocab, 'a+'),
    matcher = turnstile.matcher(grammar),
    [token] = vocab.encode('a');
  const refused = (call) => assert.throws(call, {status: 'TSL_ERR_ARGUMENT'}, String(call));
  for (const bad of [undefined, null, NaN, -1, 1.5, 2 ** 32, 2 ** 32 + token, '1', [token], {}]) {
    for (const call of [
      () => matcher.accept(bad),
      () => matcher.validate([bad]),
      () => matcher.rollback(bad),
      () => vocab.isEog(bad),
      () => vocab.bytes(bad),
      () =>
        turnstile.jsonSchema(vocab, true, {
          whitespace: 'bounded',
          amount: bad === undefined ? -1 : bad,
        }),
    ])
      refused(call);
  }
  for (const bad of [undefined, null, 0, grammar.pointer, matcher, {live: vocab.live}]) {
    refused(() => turnstile.regex(bad, 'a'));
    refused(() => turnstile.matcher(bad === matcher ? vocab : bad));
    refused(() => turnstile.parser(bad));
    refused(() => matcher.acceptBytes(bad));
  }
  for (const name of ['toString', '__proto__', 'constructor'])
    refused(() => turnstile.jsonSchema(vocab, true, {whitespace: name}));
  refused(() => turnstile.jsonSchema(vocab, undefined));
  refused(() => turnstile.regex(vocab, /a/));
  assert(
    matcher.acceptBytes(Uint8Array.of(97).buffer) &&
      matcher.acceptBytes(Buffer.from('a')) &&
      matcher.accept(token),
  );
  vocab.free(); // the grammar holds what it needs
  const other = turnstile.matcher(grammar),
    logits = new Float32Array(matcher.width);
  other.applyMask(logits);
  assert(logits[token] === 0 && logits.includes(-Infinity) && other.mask().length === other.words);
});

test('text that is none, and texts with what a decoder would leave out', async () => {
  const turnstile = await loaded,
    vocab = turnstile.embeddedVocab(),
    any = turnstile.tags(vocab, {type: 'any_text'}),
    parser = turnstile.parser(any);
  const half = '\ud83d',
    matcher = turnstile.matcher(turnstile.regex(vocab, '.'));
  for (const call of [
    () => turnstile.regex(vocab, half),
    () => turnstile.gbnf(vocab, `root ::= "${half}"`),
    () => turnstile.jsonSchema(vocab, `{"const": "${half}"}`),
    () => turnstile.jsonSchema(vocab, {const: half}),
    () => matcher.acceptBytes(half),
    () => vocab.encode(half),
    () => parser.text(half),
  ])
    assert.throws(call, {status: 'TSL_ERR_SYNTAX'}, String(call));
  assert(matcher.acceptBytes('\u{1f600}'));
  for (const text of ['\ufeffa', '\ufeff', '\0']) {
    parser.reset();
    assert(parser.text(text) && parser.finish());
    assert.strictEqual(
      parser
        .parts()
        .map((part) => part.text)
        .join(''),
      text,
    );
    assert.strictEqual(parser.answer.content, text);
  }
  const tools = [{type: 'function', function: {name: 'look', parameters: {}}}];
  for (const options of [{preset: 'qwen3\0'}, {preset: 'qwen3', toolChoice: 'look\0'}])
    assert.throws(() => turnstile.tools(vocab, tools, options), {status: 'TSL_ERR_ARGUMENT'});
});

test('grammars of another vocabulary', async () => {
  const turnstile = await loaded,
    vocab = turnstile.embeddedVocab(),
    ranks = Array.from({length: 256}, (_, i) => `${Buffer.of(i).toString('base64')} ${i}\n`);
  const wide = turnstile.loadVocab(Buffer.from(ranks.join('')), 'cl100k_base.tiktoken'),
    over = turnstile.tags(wide, {type: 'any_text'});
  assert(wide.maskWords > vocab.maskWords);
  const refused = {status: 'TSL_ERR_ARGUMENT', message: /another vocabulary/};
  assert.throws(() => turnstile.tags(vocab, {type: 'any_text'}, {over}), refused);
  assert.throws(() => turnstile.tools(vocab, [], {preset: 'qwen3', over}), refused);
  assert.strictEqual(
    turnstile.matcher(turnstile.tags(wide, {type: 'any_text'}, {over})).mask().length,
    wide.maskWords,
  );
});

test('the program goes on as it did', async () => {
  const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)]),
    before = listeners();
  await load({folder: process.env.TURNSTILE_DIST});
  assert.deepStrictEqual(listeners(), before);
});

test('stacks are large enough', async () => {
  const turnstile = await load({folder: process.env.TURNSTILE_DIST}),
    vocab = turnstile.embeddedVocab(),
    limit = {status: 'TSL_ERR_LIMIT'};
  const nested = (n, open) => `${open.repeat(n)}{"type": "integer"}${'}'.repeat(n)}`;
  for (const open of [
    '{"contains":',
    '{"items":',
    '{"not":',
    '{"additionalProperties":',
    '{"unevaluatedItems":',
  ]) {
    assert(turnstile.matcher(turnstile.jsonSchema(vocab, nested(400, open))).mask().length);
    assert.throws(
      () =>
        turnstile.matcher(turnstile.jsonSchema(vocab, nested(511, open))).mask() &&
        turnstile.jsonSchema(vocab, nested(512, open)),
      limit,
    );
  }
  const matcher = turnstile.matcher(turnstile.gbnf(vocab, 'root ::= "a" root root? | ""')),
    [a] = vocab.encode('a');
  assert.throws(() => {
    for (let n = 0; n < 3000; n++) matcher.accept(a);
  }, limit);
  // What the last call said is not said again of one that says nothing.
  assert.throws(() => turnstile.regex(vocab, 'a'.repeat(200000)), {...limit, message: /too long/});
  assert.throws(() => matcher.validate([a]), {
    ...limit,
    message: 'TSL_ERR_LIMIT (TSL_ERR_LIMIT)',
    pointer: '',
    line: 0,
  });
});

test(
  'a GGUF vocabulary',
  {skip: !process.env.TURNSTILE_GGUF && 'TURNSTILE_GGUF is not set'},
  async () => {
    const turnstile = await loaded,
      vocab = turnstile.loadVocab(fs.readFileSync(process.env.TURNSTILE_GGUF), 'x.gguf');
    const [texts, lines] = ['inp', 'out'].map((end) =>
      fs.readFileSync(`${process.env.TURNSTILE_GGUF}.${end}`, 'utf8'),
    );
    texts
      .split('\n__ggml_vocab_test__\n')
      .slice(0, -1)
      .forEach((text, i) => {
        assert.deepStrictEqual(
          [...vocab.encode(text, {special: true})],
          lines.split('\n')[i].split(' ').filter(Boolean).map(Number),
        );
      });
    const [text, tokens] = generate(
      vocab,
      turnstile.matcher(turnstile.jsonSchema(vocab, SCHEMA, {whitespace: 'compact'})),
      generator(1),
    );
    console.log(`text ${tokens} ${Buffer.from(text).toString('hex')}`);
  },
);

test('requests of servers, and Lark', async () => {
  const turnstile = await loaded,
    vocab = turnstile.embeddedVocab();
  const ends = (grammar, text) => {
    const matcher = turnstile.matcher(grammar);
    return matcher.acceptBytes(text) && matcher.isComplete;
  };
  for (const [request, good, bad] of [
    [{response_format: {type: 'json_object'}}, '{}', '1'],
    [{structured_outputs: {choice: ['yes', 'no']}}, 'no', 'maybe'],
    [{structured_outputs: {grammar: 'start: /[ab]+/'}}, 'ab', 'c'],
    ['{"format": {"const": [1, 2]}}', '[1,2]', '[2]'],
  ]) {
    const grammar = turnstile.request(vocab, request);
    assert(ends(grammar, good) && !ends(grammar, bad), JSON.stringify(request));
  }
  assert.deepStrictEqual(turnstile.readRequest({guided_choice: ['a', 'ü']}), {
    kind: 'regex',
    text: 'a|ü',
    pointer: '/guided_choice',
    compact: false,
  });
  assert.throws(() => turnstile.request(vocab, '{"a": 1,\n"regex": "("}'), {
    pointer: '/regex',
    line: 2,
  });
  assert.throws(() => turnstile.readRequest({}), {status: 'TSL_ERR_SCHEMA'});
  const lark = turnstile.lark(vocab, 'start: "a" start?');
  assert(ends(lark, 'aa') && !ends(lark, 'b'));
  const tool = {
    type: 'custom',
    name: 'sum',
    format: {type: 'grammar', syntax: 'lark', definition: 'start: /[0-9]+/ ("+" /[0-9]+/)*'},
  };
  const sums = turnstile.tools(
    vocab,
    {tools: [tool]},
    {preset: 'qwen3', toolChoice: 'required', thinking: 'off'},
  );
  const call = (input) =>
    `<tool_call>\n{"name": "sum", "arguments": {"input": "${input}"}}\n</tool_call>`;
  assert(ends(sums, call('1+22')) && !ends(sums, call('1+')));
});

test('tools, and an answer read back', async () => {
  const turnstile = await loaded,
    vocab = turnstile.embeddedVocab();
  const tools = [
    {
      type: 'function',
      function: {
        name: 'look',
        parameters: {
          type: 'object',
          properties: {a: {type: 'integer'}},
          required: ['a'],
          additionalProperties: false,
        },
      },
    },
  ];
  const call = '<tool_call>\n{"name": "look", "arguments": {"a": 1}}\n</tool_call>',
    free = turnstile.tools(vocab, {tools}, {preset: 'qwen3'});
  const accepts = (grammar, text) => turnstile.matcher(grammar).acceptBytes(text);
  assert(turnstile.toolPresets.includes('qwen3') && accepts(free, 'Well. ') && accepts(free, call));
  const forced = turnstile.tools(vocab, tools, {
    preset: 'qwen3',
    toolChoice: 'look',
    thinking: 'off',
    over: free,
  });
  assert(!accepts(forced, 'Well. ') && accepts(forced, call) && !accepts(forced, '<think>'));
  const short = turnstile.matcher(
      turnstile.tools(vocab, tools, {preset: 'qwen3', maxThinkingTokens: 1}),
    ),
    [word] = vocab.encode(' a');
  assert(short.acceptBytes('<think>') && short.accept(word) && !short.accept(word));
  assert.throws(() => turnstile.tools(vocab, tools, {preset: "nobody's"}), {
    status: 'TSL_ERR_ARGUMENT',
  });
  const parser = turnstile.parser(free),
    parts = [];
  for (const byte of Buffer.from(`Wéll. ${call}`)) {
    assert(parser.text(Uint8Array.of(byte)));
    parts.push(...parser.parts());
  }
  const joined = (kind) =>
    parts
      .filter((p) => p.kind === kind)
      .map((p) => p.text)
      .join('');
  assert.deepStrictEqual(
    [joined('text'), joined('call'), joined('arguments')],
    ['Wéll. ', 'look', '{"a": 1}'],
  );
  assert(
    parser.finish() &&
      parser.answer.calls[0].arguments.a === 1 &&
      parser.answer.content === 'Wéll. ',
  );
  parser.reset();
  assert(parser.text('<tool_call>\n') && !parser.text('x') && !parser.finish());
  const tag = turnstile.tags(
    vocab,
    {structures: [{begin: '<f>', schema: {type: 'integer'}, end: '</f>'}], triggers: ['<f']},
    {over: free},
  );
  assert(accepts(tag, 'a <f>12</f> b') && !accepts(tag, '<f>x'));
  assert.throws(() => turnstile.parser(turnstile.regex(vocab, 'a')), TurnstileError);
});
