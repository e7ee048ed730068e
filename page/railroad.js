/* railroad.js - a GBNF rule as a railroad: what a text may be, followed along the rails from left
 * to right.
 *
 * draw(rule) gives SVG as text. A node's drawing is {width, up, down, svg}. A path enters at (0, 0)
 * on the left and leaves at (width, 0). `up` and `down` are how far the drawing reaches from that
 * line. Literals are round, classes are angular, other rules are boxes. A choice branches
 * downwards. What may be repeated has a way back below, what may be left out has a way past above.
 * Tested by tests/programs/test_pictures.py, tests/page/playground_test.js
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';

const Railroad = (() => {
  const GAP = 12,
    RADIUS = 8,
    HEIGHT = 24,
    LETTER = 7.8; /* px */

  const escape = (text) =>
    text.replace(/[&<>"]/g, (c) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[c]);
  const line = (x1, x2, y) => (x2 > x1 ? `<path d="M${x1} ${y}H${x2}"/>` : '');
  const move = (part, x, y) => `<g transform="translate(${x} ${y})">${part.svg}</g>`;

  function box(text, kind, radius) {
    const width = Math.max(HEIGHT, [...text].length * LETTER + 18);
    return {
      width,
      up: HEIGHT / 2,
      down: HEIGHT / 2,
      svg: `<rect class="${kind}" x="0" y="${-HEIGHT / 2}" width="${width}" height="${HEIGHT}" rx="${radius}"/><text x="${width / 2}" y="4.5">${escape(text)}</text>`,
    };
  }

  function sequence(parts) {
    let x = 0,
      svg = '';
    parts.forEach((part, i) => {
      if (i) {
        svg += line(x, x + GAP, 0);
        x += GAP;
      }
      svg += move(part, x, 0);
      x += part.width;
    });
    return {
      width: x,
      up: Math.max(1, ...parts.map((p) => p.up)),
      down: Math.max(1, ...parts.map((p) => p.down)),
      svg,
    };
  }

  const bend = (x, y, dx, dy) => `<path d="M${x} ${y}q${dx} 0 ${dx} ${dy}"/>`;
  const unbend = (x, y, dx, dy) => `<path d="M${x} ${y}q0 ${dy} ${dx} ${dy}"/>`;

  function choice(parts) {
    const inner = Math.max(...parts.map((p) => p.width)),
      side = 2 * RADIUS,
      width = inner + 2 * side;
    let svg = '',
      y = 0;
    parts.forEach((part, i) => {
      if (i) y += parts[i - 1].down + GAP / 2 + Math.max(part.up, RADIUS);
      const x = side + (inner - part.width) / 2;
      svg += move(part, x, y);
      if (i === 0) svg += line(0, x, 0) + line(x + part.width, width, 0);
      else {
        svg +=
          bend(0, 0, RADIUS, RADIUS) +
          `<path d="M${RADIUS} ${RADIUS}V${y - RADIUS}"/>` +
          unbend(RADIUS, y - RADIUS, RADIUS, RADIUS) +
          line(side, x, y);
        svg +=
          line(x + part.width, width - side, y) +
          `<path d="M${width - side} ${y}q${RADIUS} 0 ${RADIUS} ${-RADIUS}V${RADIUS}q0 ${-RADIUS} ${RADIUS} ${-RADIUS}"/>`;
      }
    });
    return {width, up: parts[0].up, down: y + parts[parts.length - 1].down, svg};
  }

  /* A way past, above. */
  function optional(part) {
    const side = 2 * RADIUS,
      width = part.width + 2 * side,
      top = part.up + GAP / 2 + RADIUS;
    const svg =
      line(0, side, 0) +
      move(part, side, 0) +
      line(side + part.width, width, 0) +
      `<path d="M0 0q${RADIUS} 0 ${RADIUS} ${-RADIUS}V${-top + RADIUS}q0 ${-RADIUS} ${RADIUS} ${-RADIUS}H${width - side}q${RADIUS} 0 ${RADIUS} ${RADIUS}V${-RADIUS}q0 ${RADIUS} ${RADIUS} ${RADIUS}"/>`;
    return {width, up: top + 1, down: part.down, svg};
  }

  /* A way back, below, with a word on it. */
  function loop(part, word) {
    const side = 2 * RADIUS,
      inner = Math.max(part.width, word ? [...word].length * LETTER : 0),
      width = inner + 2 * side,
      bottom = part.down + GAP / 2 + RADIUS,
      x = side + (inner - part.width) / 2;
    const svg =
      line(0, x, 0) +
      move(part, x, 0) +
      line(x + part.width, width, 0) +
      `<path d="M${width - side} 0q${RADIUS} 0 ${RADIUS} ${RADIUS}V${bottom - RADIUS}q0 ${RADIUS} ${-RADIUS} ${RADIUS}H${side}q${-RADIUS} 0 ${-RADIUS} ${-RADIUS}V${RADIUS}q0 ${-RADIUS} ${RADIUS} ${-RADIUS}"/>` +
      (word
        ? `<text class="times" x="${width / 2}" y="${bottom + 14}">${escape(word)}</text>`
        : '');
    return {width, up: part.up, down: bottom + (word ? 18 : 2), svg};
  }

  function repeat(item, min, max) {
    const part = node(item),
      times =
        max === null
          ? min > 1
            ? `${min} or more`
            : ''
          : max === 1
            ? null
            : min === max
              ? `${min} times`
              : `${Math.max(min, 1)} to ${max}`;
    if (max === 1) return min ? part : optional(part);
    const looped = loop(part, times);
    return min === 0 ? optional(looped) : looped;
  }

  function node(n) {
    switch (n.kind) {
      case 'literal':
        return box(
          n.text
            .slice(1, -1)
            .replace(/\\([-[\]])/g, '$1')
            .replace(/ /g, '␣'),
          'literal',
          HEIGHT / 2,
        );
      case 'class':
        return box(n.text, 'class', 2);
      case 'token':
        return box(n.text, 'token', 2);
      case 'any':
        return box('any character', 'class', 2);
      case 'rule':
        return box(n.name, 'rule', 2);
      case 'sequence':
        return sequence(n.items.map(node));
      case 'choice':
        return choice(n.items.map(node));
      case 'repeat':
        return repeat(n.item, n.min, n.max);
      default:
        return {width: GAP, up: 1, down: 1, svg: line(0, GAP, 0)};
    }
  }

  const STYLE =
    'path{fill:none;stroke:currentColor;stroke-width:1.4}rect{fill:none;stroke:currentColor;stroke-width:1.2}rect.rule{stroke-width:2}rect.class,rect.token{stroke-dasharray:4 2}' +
    'text{font:13px ui-monospace,"DejaVu Sans Mono",monospace;text-anchor:middle;fill:currentColor}text.times{font-size:11px}';

  /* A rule as SVG. */
  function draw(rule) {
    const part = node(rule.body),
      width = part.width + 2 * GAP + 24,
      height = part.up + part.down + 16,
      y = part.up + 8;
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Railroad of the rule ${escape(rule.name)}" width="${Math.ceil(width)}" height="${Math.ceil(height)}" viewBox="0 0 ${width} ${height}">` +
      `<style>${STYLE}</style><path d="M6 ${y - 7}v14M10 ${y - 7}v14"/>${line(10, 12 + GAP, y)}${move(part, 12 + GAP, y)}${line(12 + GAP + part.width, width - 10, y)}<path d="M${width - 10} ${y - 7}v14M${width - 6} ${y - 7}v14"/></svg>`
    );
  }

  return {draw};
})();

if (typeof module !== 'undefined') module.exports = Railroad;
