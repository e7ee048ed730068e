/* labels.js - what the pages write for people: elements, numbers, tokens, bytes and records as text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';

const Labels = (() => {
  const LEAST = 1e-5; /* legal mass at which the heat strip is hottest */

  /* An element: make('p', {class: 'x', onclick: f}, child, 'text', …). */
  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
      else element.setAttribute(key, value === true ? '' : value);
    }
    element.append(...children.filter((c) => c !== null && c !== undefined));
    return element;
  }

  function percent(p) {
    if (p === null || p === undefined) return '–';
    if (p === 0) return '0 %';
    return p < 0.0001 ? `${(p * 100).toExponential(1)} %` : `${(p * 100).toFixed(2)} %`;
  }

  const count = (n) => n.toLocaleString('en-US');
  const hexOf = (byte) => byte.toString(16).toUpperCase().padStart(2, '0');

  const MARKS = {' ': '·', '\n': '⏎', '\r': '␍', '\t': '⇥', '\u00a0': '⍽'};
  /* Text for reading: white space and control characters visible. */
  const visible = (text) =>
    [...text]
      .map(
        (c) =>
          MARKS[c] ||
          (c < ' ' || c === '\u007f'
            ? String.fromCharCode(0x2400 + (c === '\u007f' ? 0x21 : c.charCodeAt(0)))
            : c),
      )
      .join('');
  const bytesShown = (hex) => `⟨${hex.toUpperCase().replace(/(..)(?=.)/g, '$1 ')}⟩`;
  /* What a token (or any {text} or {hex}) looks like. */
  const label = (t) =>
    t.hex !== undefined ? bytesShown(t.hex) : t.text === '' ? '(empty)' : visible(t.text);
  const tokenLabel = (t) => (t.special && t.text === '' ? `<${t.id}>` : label(t));

  const byteShown = (b) =>
    b === 0x20 ? 'space' : b > 0x20 && b < 0x7f ? String.fromCharCode(b) : hexOf(b);
  const rangeShown = ([low, high]) =>
    low === high
      ? byteShown(low)
      : high === low + 1
        ? `${byteShown(low)} ${byteShown(high)}`
        : `${byteShown(low)}–${byteShown(high)}`;

  /* 0: all was allowed; 1: nearly nothing. */
  const heat = (mass) =>
    mass === null || mass === undefined
      ? 0
      : Math.min(1, Math.log(Math.max(mass, LEAST)) / Math.log(LEAST));

  const KINDS = {schema: 'JSON Schema', regex: 'regular expression', gbnf: 'GBNF grammar'};

  /* One line about a record. */
  const describe = (record) => {
    const s = record.sampling || {};
    return [
      (KINDS[record.grammar.kind] || 'compiled grammar') +
        (record.grammar.name ? ` ${record.grammar.name}` : ''),
      `vocabulary ${record.vocabulary.name}, ${count(record.vocabulary.size)} tokens`,
      record.model && `model: ${record.model}`,
      s.temperature !== undefined &&
        `drawn at temperature ${s.temperature}` +
          (s.top_k ? `, top-k ${s.top_k}` : '') +
          (s.top_p && s.top_p < 1 ? `, top-p ${s.top_p}` : '') +
          (s.min_p ? `, min-p ${s.min_p}` : ''),
      record.result === 'cut' && 'cut: the text is not complete',
    ]
      .filter(Boolean)
      .join(' · ');
  };

  /* A button that switches between light and dark; at first as the system has it. */
  function theme(button) {
    const system = matchMedia('(prefers-color-scheme: dark)');
    let dark = system.matches;
    const set = () => {
      document.documentElement.dataset.theme = dark ? 'dark' : 'light';
      button.setAttribute('aria-pressed', String(dark));
    };
    button.addEventListener('click', () => {
      dark = !dark;
      set();
    });
    system.addEventListener('change', (event) => {
      dark = event.matches;
      set();
    });
    set();
  }

  return {LEAST, make, percent, count, label, tokenLabel, rangeShown, heat, describe, theme};
})();
