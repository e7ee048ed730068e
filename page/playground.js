/* playground.js - the playground: what is typed is compiled at once, what is written is a record
 * that the inspector shows.
 *
 * There is one function for each event: the grammar was edited, the vocabulary changed, the text
 * was typed, a token was written or rolled back. Each ends in show(), which fills the page from the
 * state below. Times that a person sees are measured here, from the event to the mask.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';

(async () => {
  const $ = (id) => document.getElementById(id);
  const {make, percent, label, tokenLabel, count} = Inspector;
  const LISTED = 300,
    STATES = 400,
    CHUNK_MS = 12;

  const api = await EngineApi.start();
  const inspector = new Inspector($('inspector'), {take});
  let vocab = null,
    grammar = 0,
    engine = 0,
    opened = '',
    record = null,
    writing = false,
    kind = 'schema';

  /* ---- the text ---- */

  const written = () => record.steps.filter((s) => s.token).map((s) => s.token.id);
  const settings = () => inspector.sliders.values;

  function bytesOf(tokens) {
    const parts = tokens.filter((id) => !vocab.kinds[id]).map((id) => api.bytes(vocab, id)),
      all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  /* An engine for the grammar and the settings as they are; the text is empty. */
  function open() {
    if (engine) api.close(engine);
    engine = 0;
    const seed = Number($('seed').value) >>> 0;
    engine = api.open(vocab, grammar, kind, seed, settings());
    opened = JSON.stringify([seed, settings()]);
  }

  /* Write tokens from the beginning, as far as they are allowed; then write the position. */
  function replay(tokens) {
    api.restart(engine);
    const steps = [];
    for (const id of tokens) {
      const step = api.here(engine, false);
      if (!api.write(engine, id)) break;
      steps.push({...step, token: api.token(vocab, id)});
    }
    record = {
      format: 'turnstile-trace',
      version: 1,
      tool: `turnstile ${api.version}`,
      grammar: {kind, name: '', source: $('editor').value},
      vocabulary: {name: vocab.name, size: vocab.size},
      model: 'n-gram',
      captured: 16,
      sampling: samplingOf(settings()),
      steps,
    };
    steps.push(api.here(engine, true));
    return steps.length - 1;
  }

  const samplingOf = (s) => ({
    temperature: s.temperature,
    top_k: s.topK,
    top_p: s.topP,
    min_p: s.minP,
    repetition_penalty: s.penalty,
    frequency_penalty: s.frequency,
    presence_penalty: s.presence,
    dry_multiplier: s.dry,
    dynamic_range: s.dynamic,
    typical_p: s.typical,
    top_n_sigma: s.sigma,
    epsilon: s.epsilon,
    eta: s.eta,
    xtc_probability: s.xtc > 0 ? 1 : 0,
    xtc_threshold: s.xtc,
  });

  /* Put a token at the end that is allowed there. */
  function take(id) {
    const last = record.steps[record.steps.length - 1];
    if (!api.write(engine, id)) return;
    record.steps[record.steps.length - 1] = {...last, token: api.token(vocab, id)};
    record.steps.push(api.here(engine, true));
    textFromTokens();
    show();
  }

  function textFromTokens() {
    $('prefix').value = new TextDecoder().decode(bytesOf(written()));
    $('prefix-verdict').textContent = '';
    $('prefix').removeAttribute('aria-invalid');
  }

  /* ---- generating ---- */

  function draw() {
    if (opened !== JSON.stringify([Number($('seed').value) >>> 0, settings()])) {
      const tokens = written();
      open();
      replay(tokens);
    }
    record.steps.pop();
    const step = api.next(engine);
    if (step) record.steps.push(step);
    record.steps.push(api.here(engine, !writing));
    return Boolean(step) && !api.isOver(engine);
  }

  function one() {
    if (!engine) return;
    draw();
    textFromTokens();
    show();
  }

  function stop() {
    writing = false;
    $('all').textContent = 'Write to the end';
    if (!engine) return;
    record.steps[record.steps.length - 1] = api.here(engine, true);
    textFromTokens();
    show();
  }

  function all() {
    if (!engine) return;
    if (writing) return stop();
    writing = true;
    $('all').textContent = 'Stop';
    const chunk = () => {
      if (!writing) return;
      const start = performance.now();
      let more = true;
      while (more && performance.now() - start < CHUNK_MS) more = draw();
      if (!more) return stop();
      textFromTokens();
      inspector.show(record, record.steps.length - 1, true);
      setTimeout(chunk);
    };
    chunk();
  }

  /* ---- the grammar ---- */

  /* The line of a JSON text where the value at a pointer begins; 0 if it is not found. */
  function lineOfPointer(text, pointer) {
    const parts = pointer
      .split('/')
      .slice(1)
      .map((p) => p.replaceAll('~1', '/').replaceAll('~0', '~'));
    let at = 0;
    const space = () => {
      while (/\s/.test(text[at] ?? '')) at++;
    };
    const string = () => {
      const start = at++;
      while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
      at++;
      try {
        return JSON.parse(text.slice(start, at));
      } catch {
        return '';
      }
    };
    const skip = () => {
      /* a value, without recursion */
      for (let depth = 0; at < text.length; ) {
        const c = text[at];
        if (c === '"') string();
        else {
          if ('[{'.includes(c)) depth++;
          if (']}'.includes(c) && depth-- === 0) return;
          if (c === ',' && depth === 0) return;
          at++;
        }
      }
    };
    for (const part of parts) {
      space();
      const open = text[at++];
      for (let index = 0; ; index++) {
        space();
        if (at >= text.length || ']}'.includes(text[at])) return 0;
        const key = open === '{' ? string() : String(index);
        if (open === '{') {
          space();
          at++;
        }
        if (key === part) break;
        skip();
        if (text[at] === ',') at++;
      }
    }
    space();
    return text.slice(0, at).split('\n').length;
  }

  function gutter(bad = 0) {
    const lines = $('editor').value.split('\n').length;
    $('gutter').replaceChildren(
      ...Array.from({length: lines}, (_, i) =>
        make(i + 1 === bad ? 'b' : 'span', {}, `${i + 1}${i + 1 === bad ? ' ✗' : ''}\n`),
      ),
    );
    $('gutter').scrollTop = $('editor').scrollTop;
  }

  function complain(error) {
    const line =
      error.line ||
      (kind === 'schema' && error.pointer ? lineOfPointer($('editor').value, error.pointer) : 0);
    $('verdict').className = 'verdict bad';
    $('verdict').textContent =
      `${line ? `Line ${line}${error.column ? `, column ${error.column}` : ''}: ` : ''}${error.message}${error.pointer ? ` (at ${error.pointer})` : ''}`;
    $('editor').setAttribute('aria-invalid', 'true');
    $('to-error').hidden = !line;
    $('stale').hidden = !grammar;
    $('to-error').dataset.line = line;
    $('to-error').dataset.column = error.column || 1;
    gutter(line);
  }

  function drawRules() {
    $('rules-box').hidden = kind !== 'gbnf';
    if (kind !== 'gbnf') return;
    $('rules').replaceChildren(
      ...api
        .rules(vocab, $('editor').value)
        .sort((a, b) => a.line - b.line)
        .map((rule) => {
          const box = make('div', {
            class: 'railroad',
            tabindex: 0,
            role: 'region',
            'aria-label': `Rule ${rule.name}`,
          });
          box.innerHTML = Railroad.draw(rule); /* all text in it is escaped */
          return make('div', {}, make('h3', {}, rule.name), box);
        }),
    );
  }

  /* The grammar, or what it is compiled with, has changed. */
  function edited() {
    const start = performance.now(),
      tokens = record ? written() : [];
    writing = false;
    kind = $('kind').value;
    let fresh;
    try {
      fresh = api.compile(vocab, kind, $('editor').value, {
        order: Number($('order').value),
        whitespace: Number($('whitespace').value),
      });
    } catch (error) {
      complain(error);
      return;
    }
    const compiled = performance.now();
    if (engine) api.close(engine);
    if (grammar) api.freeGrammar(grammar);
    engine = 0;
    grammar = fresh;
    open();
    api.here(engine, false);
    const masked = performance.now();
    replay(tokens);
    $('editor').removeAttribute('aria-invalid');
    $('to-error').hidden = $('stale').hidden = true;
    $('verdict').className = 'verdict';
    $('verdict').textContent =
      `Compiled in ${(compiled - start).toFixed(1)} ms, first mask after ${(masked - start).toFixed(1)} ms.`;
    Object.assign($('verdict').dataset, {compile: compiled - start, first: masked - start});
    textFromTokens();
    show();
    $('verdict').dataset.shown = performance.now() - start;
    gutter();
    drawRules();
  }

  /* ---- the vocabulary ---- */

  function useVocab(load) {
    const start = performance.now(),
      before = vocab,
      text = record ? new TextDecoder().decode(bytesOf(written())) : '';
    let fresh;
    try {
      fresh = load();
    } catch (error) {
      $('vocab').className = 'verdict bad';
      $('vocab').textContent = `Cannot be used: ${error.message}`;
      return;
    }
    const loaded = performance.now() - start;
    if (engine) api.close(engine);
    if (grammar) api.freeGrammar(grammar);
    engine = grammar = 0;
    record = null;
    vocab = fresh;
    if (before) api.freeVocab(before);
    $('vocab').className = 'verdict';
    $('vocab').textContent =
      `${vocab.name}: ${count(vocab.size)} tokens, loaded in ${loaded.toFixed(0)} ms.`;
    $('vocab').dataset.loaded = loaded;
    edited();
    if (engine && text) typed(text);
  }

  const useFile = async (file) => {
    const bytes = new Uint8Array(await file.arrayBuffer());
    useVocab(() => api.loadVocab(bytes, file.name));
  };

  /* ---- typing ---- */

  function typed(text) {
    if (!engine) return;
    let tokens,
      why = '';
    try {
      tokens = api.encode(vocab, text);
    } catch (error) {
      why = error.message;
      tokens = [];
    }
    const reached = replay(tokens);
    if (!why && reached < tokens.length) {
      const good = bytesOf(tokens.slice(0, reached)),
        rest = bytesOf(tokens.slice(reached)),
        offset = good.length + api.follows(engine, rest);
      why = `Not allowed from byte ${offset} on; the text is read up to byte ${good.length}.`;
    }
    $('prefix-verdict').textContent = why;
    $('prefix-verdict').classList.toggle('bad', Boolean(why));
    if (why) $('prefix').setAttribute('aria-invalid', 'true');
    else $('prefix').removeAttribute('aria-invalid');
    show();
  }

  /* ---- showing ---- */

  /* What is allowed at the end of the text, by the search and the first byte. */
  function listAllowed() {
    const words = api.mask(engine, vocab),
      query = $('search').value.toLowerCase(),
      number = /^\d+$/.test(query) ? Number(query) : -1,
      leading = $('leading').value,
      found = [];
    let matching = 0;
    for (let w = 0; w < words.length; w++) {
      for (let bits = words[w]; bits; bits &= bits - 1) {
        const id = w * 32 + 31 - Math.clz32(bits & -bits);
        if (leading !== '' && vocab.first[id] !== Number(leading)) continue;
        if (
          query &&
          id !== number &&
          !(api.token(vocab, id).text ?? '').toLowerCase().includes(query)
        )
          continue;
        matching++;
        if (found.length < LISTED) found.push(id);
      }
    }
    const over = api.isOver(engine);
    $('allowed-count').textContent = over
      ? 'The text is over: nothing comes after the end.'
      : `${count(matching)} tokens${matching > found.length ? `; the first ${found.length} are listed` : ''}.`;
    $('allowed').replaceChildren(
      ...found.map((id) =>
        make(
          'button',
          {type: 'button', title: `token ${id}`, 'data-id': id},
          vocab.kinds[id] > 1 ? 'end' : tokenLabel(api.token(vocab, id)),
        ),
      ),
    );
  }

  function listLeading() {
    const words = api.mask(engine, vocab),
      counts = new Map(),
      chosen = $('leading').value;
    for (let w = 0; w < words.length; w++) {
      for (let bits = words[w]; bits; bits &= bits - 1) {
        const id = w * 32 + 31 - Math.clz32(bits & -bits);
        if (vocab.first[id] >= 0 && !vocab.kinds[id])
          counts.set(vocab.first[id], (counts.get(vocab.first[id]) || 0) + 1);
      }
    }
    const name = (b) =>
      b > 0x20 && b < 0x7f
        ? String.fromCharCode(b)
        : b === 0x20
          ? 'space'
          : b.toString(16).toUpperCase().padStart(2, '0');
    $('leading').replaceChildren(
      make('option', {value: ''}, 'any'),
      ...[...counts]
        .sort((a, b) => a[0] - b[0])
        .map(([b, n]) =>
          make('option', {value: b, selected: String(b) === chosen}, `${name(b)}  (${count(n)})`),
        ),
    );
  }

  function listStates() {
    const here = new Set((record.steps[record.steps.length - 1].frames || []).map((f) => f.state)),
      states = api.states(engine);
    const bytes = (ranges) =>
      ranges
        .slice(0, 6)
        .map(
          ([a, b]) =>
            label({text: String.fromCharCode(a)}).trim() +
            (b > a ? `–${label({text: String.fromCharCode(b)})}` : ''),
        )
        .join(' ') + (ranges.length > 6 ? ' …' : '');
    const goes = (e) =>
      e.kind === 'bytes'
        ? `${bytes(e.bytes)} → ${e.to}`
        : e.kind === 'call'
          ? `call ${e.to}, then ${e.then}`
          : e.kind === 'or'
            ? `or ${e.to}`
            : `${e.complement ? 'any but' : 'one of'} ${e.tokens} tokens → ${e.to}`;
    $('states').replaceChildren(
      ...states
        .slice(0, STATES)
        .map((s) =>
          make(
            'tr',
            {class: here.has(s.state) ? 'here' : ''},
            make(
              'th',
              {scope: 'row'},
              `${s.state}${s.nullable ? ' ●' : ''}${here.has(s.state) ? ' ← here' : ''}`,
            ),
            make('td', {}, make('code', {}, s.expression || '(a choice)')),
            make(
              'td',
              {},
              ...s.edges.map((e) => make('span', {class: 'goes'}, make('code', {}, goes(e)))),
            ),
          ),
        ),
    );
    if (states.length > STATES)
      $('states').append(
        make('tr', {}, make('td', {colspan: 3}, `and ${count(states.length - STATES)} more`)),
      );
  }

  function show() {
    inspector.show(record, record.steps.length - 1, true);
    $('about').textContent =
      `Turnstile ${api.version} in WebAssembly · ${vocab.name}, ${count(vocab.size)} tokens`;
    $('back').disabled = record.steps.length < 2;
    for (const id of ['one', 'all']) $(id).disabled = api.isOver(engine);
    listLeading();
    listAllowed();
    clearTimeout(show.later);
    show.later = setTimeout(listStates);
  }

  /* ---- the page's events ---- */

  $('editor').addEventListener('input', edited);
  $('editor').addEventListener('scroll', () => {
    $('gutter').scrollTop = $('editor').scrollTop;
  });
  $('kind').addEventListener('change', () => {
    for (const element of document.querySelectorAll('.of-schema'))
      element.hidden = $('kind').value !== 'schema';
    edited();
  });
  for (const id of ['order', 'whitespace']) $(id).addEventListener('change', edited);
  $('example').addEventListener('change', () => {
    const example = EXAMPLES[Number($('example').value)];
    if ($('example').value === '' || !example) return;
    $('kind').value = example.kind;
    $('editor').value = example.text;
    record = null;
    $('kind').dispatchEvent(new Event('change'));
  });
  $('to-error').addEventListener('click', () => {
    const lines = $('editor').value.split('\n'),
      line = Number($('to-error').dataset.line),
      start = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0);
    $('editor').focus();
    $('editor').setSelectionRange(start, start + lines[line - 1].length);
  });
  $('vocab-file').addEventListener('change', (event) => {
    const [file] = event.target.files;
    event.target.value = ''; /* so that the same file can be chosen again */
    if (file) useFile(file);
  });
  $('embedded').addEventListener('click', () => useVocab(() => api.embedded()));
  for (const name of ['dragover', 'dragleave', 'drop']) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      $('drop').classList.toggle('over', name === 'dragover');
      if (name === 'drop' && event.dataTransfer.files[0]) useFile(event.dataTransfer.files[0]);
    });
  }
  $('prefix').addEventListener('input', () => typed($('prefix').value));
  $('back').addEventListener('click', () => {
    replay(written().slice(0, -1));
    textFromTokens();
    show();
  });
  $('clear').addEventListener('click', () => {
    writing = false;
    open();
    replay([]);
    textFromTokens();
    show();
  });
  $('one').addEventListener('click', one);
  $('all').addEventListener('click', all);
  $('search').addEventListener('input', listAllowed);
  $('leading').addEventListener('change', listAllowed);
  $('allowed').addEventListener('click', (event) => {
    const button = event.target.closest('[data-id]');
    if (!button) return;
    take(Number(button.dataset.id));
    $('search').focus();
  });
  $('save').addEventListener('click', () => {
    const url = URL.createObjectURL(
      new Blob([JSON.stringify({...record, steps: record.steps.filter((s) => s.token)})], {
        type: 'application/json',
      }),
    );
    make('a', {href: url, download: 'record.json'}).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  });
  inspector.listen(document);
  Inspector.theme($('theme'));

  EXAMPLES.forEach((example, i) => $('example').append(make('option', {value: i}, example.name)));
  $('editor').value = EXAMPLES[0].text;
  $('save').disabled = false;
  useVocab(() => api.embedded());
  document.documentElement.dataset.ready = 'true';
})().catch((error) => {
  const about = document.getElementById('about');
  about.textContent = `The playground could not start: ${error.message}`;
  about.setAttribute('role', 'alert');
});
