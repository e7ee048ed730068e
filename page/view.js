/* view.js - the inspector: the text with its tokens, one step of it, the sliders (sliders.js).
 *
 * `new Inspector(element)` builds the page's parts once; show(record) fills them; go(i) goes to a
 * step. A record is what docs/inspector.md describes; a step without a token is the position that
 * has been reached: nothing is drawn there yet. In the playground candidates are buttons (`take`, a
 * function of a token's id).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';

const Inspector = (() => {
  const {LEAST, make, percent, count, label, tokenLabel, rangeShown, heat, describe, theme} =
    Labels;

  /* ---- the page's parts ---- */

  const OUT = {
    mask: 'not allowed',
    odd: 'odd spelling, left out',
    greedy: 'not the most likely',
    'top-k': 'cut by top-k',
    'top-p': 'cut by top-p',
    'min-p': 'cut by min-p',
    'typical-p': 'cut by typical-p',
    'top-n-sigma': 'cut by top-n-sigma',
    epsilon: 'cut by epsilon',
    eta: 'cut by eta',
    XTC: 'cut by XTC',
  };

  /* A number with a bar behind it. `share`: 0 to 1. */
  const bar = (share, text, kind) =>
    make(
      'td',
      {class: `bar ${kind}`, style: `--share:${share.toFixed(4)}`},
      make('span', {}, text),
    );

  class View {
    constructor(root, {take = null} = {}) {
      this.root = root;
      this.take = take;
      this.record = null;
      this.index = 0;
      this.sliders = new Sliders(() => this.step());
      this.strip = make('div', {
        class: 'strip',
        role: 'img',
        onclick: (event) => this.stripClicked(event),
      });
      this.text = make('div', {
        class: 'text',
        role: 'listbox',
        'aria-label': 'Tokens of the text',
        onclick: (event) => this.tokenClicked(event),
      });
      this.range = make('input', {
        type: 'range',
        id: 'step-range',
        min: 1,
        value: 1,
        oninput: () => this.go(Number(this.range.value) - 1),
      });
      this.rangeLabel = make('output', {for: 'step-range', id: 'step-number'});
      this.previous = make(
        'button',
        {type: 'button', onclick: () => this.go(this.index - 1)},
        '← Back',
      );
      this.next = make('button', {type: 'button', onclick: () => this.go(this.index + 1)}, 'On →');
      this.headline = make('p', {class: 'headline', 'aria-live': 'polite'});
      this.stages = make('ol', {class: 'stages', 'aria-label': 'Stages'});
      this.table = make('tbody');
      this.caption = make('caption');
      this.facts = make('dl', {class: 'facts'});
      this.frames = make('ol', {
        class: 'frames',
        'aria-label': 'Stack, the frame that reads on first',
      });
      this.source = make('pre', {
        class: 'source',
        tabindex: 0,
        role: 'region',
        'aria-label': 'The grammar',
      });
      const head = (text, kind) => make('th', {scope: 'col', class: kind}, text);
      root.replaceChildren(
        make(
          'section',
          {class: 'output', 'aria-labelledby': 'output-title'},
          make('h2', {id: 'output-title'}, 'The text'),
          make(
            'p',
            {class: 'legend'},
            'One cell a token; the warmer, the less of the model’s probability the grammar allowed: ',
            ...[
              [1, '100 %'],
              [0.1, '10 %'],
              [0.01, '1 %'],
              [0.001, '0.1 %'],
              [LEAST, '0.001 %'],
            ].map(([mass, text]) =>
              make('span', {class: 'swatch', style: `--heat:${heat(mass)}`}, text),
            ),
          ),
          this.strip,
          this.text,
          make(
            'div',
            {class: 'steps'},
            this.previous,
            make('label', {for: 'step-range', class: 'hidden'}, 'Step'),
            this.range,
            this.rangeLabel,
            this.next,
          ),
        ),
        make(
          'div',
          {class: 'columns', id: 'step'},
          make(
            'section',
            {class: 'numbers', 'aria-labelledby': 'numbers-title'},
            make('h2', {id: 'numbers-title'}, 'What the model wanted, and what it got'),
            this.headline,
            this.sliders.element,
            this.stages,
            make(
              'div',
              {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Candidates'},
              make(
                'table',
                {class: 'candidates'},
                this.caption,
                make(
                  'thead',
                  {},
                  make(
                    'tr',
                    {},
                    head('Token'),
                    head('Logit', 'number'),
                    head('Of all tokens', 'number'),
                    head('At this temperature', 'number'),
                    head('Mask and cut-offs'),
                    head('Drawn from, renormalised', 'number'),
                  ),
                ),
                this.table,
              ),
            ),
          ),
          make(
            'section',
            {class: 'grammar', 'aria-labelledby': 'grammar-title'},
            make('h2', {id: 'grammar-title'}, 'Where in the grammar'),
            this.facts,
            make('h3', {}, 'Stack'),
            this.frames,
            make('details', {}, make('summary', {}, 'The grammar'), this.source),
          ),
        ),
      );
    }

    /* Show a record; `keep`: the sliders stay where they are. */
    show(record, index = 0, keep = false) {
      this.record = record;
      if (!keep) this.sliders.start(record.sampling);
      this.source.textContent = record.grammar.source || '';
      this.writeText();
      this.range.max = Math.max(1, this.record.steps.length);
      this.go(index);
    }

    /* ---- going ---- */

    go(index) {
      const last = this.record.steps.length - 1;
      this.index = Math.max(0, Math.min(last, index));
      this.step();
    }

    listen(target) {
      target.addEventListener('keydown', (event) => {
        if (
          event.altKey ||
          event.ctrlKey ||
          event.metaKey ||
          !this.record ||
          event.target.matches('input, textarea, select, [contenteditable]')
        )
          return;
        const to = {
          ArrowLeft: this.index - 1,
          ArrowRight: this.index + 1,
          Home: 0,
          End: this.record.steps.length - 1,
          l: this.leastAllowed(),
        }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
        if (to === undefined || to < 0) return;
        event.preventDefault();
        const inText = this.text.contains(document.activeElement);
        this.go(to);
        if (inText) this.text.querySelector('[aria-selected="true"]').focus();
      });
    }

    leastAllowed() {
      let least = -1;
      this.record.steps.forEach((s, i) => {
        if (
          Number.isFinite(s.legal_mass) &&
          (least < 0 || s.legal_mass < this.record.steps[least].legal_mass)
        )
          least = i;
      });
      return least;
    }

    stripClicked(event) {
      const box = this.strip.getBoundingClientRect();
      this.go(Math.floor(((event.clientX - box.left) / box.width) * this.record.steps.length));
    }

    tokenClicked(event) {
      const token = event.target.closest('[data-step]');
      if (token) this.go(Number(token.dataset.step));
    }

    /* ---- the text ---- */

    writeText() {
      const {steps} = this.record;
      this.strip.replaceChildren(
        ...steps.map((s) =>
          make('i', {style: `--heat:${heat(s.legal_mass)}`, class: s.closing ? 'closing' : ''}),
        ),
      );
      const least = this.leastAllowed();
      this.strip.setAttribute(
        'aria-label',
        least < 0
          ? 'Legal mass: nothing was measured'
          : `Legal mass of ${steps.length} steps; least at step ${least + 1}: ${percent(steps[least].legal_mass)}`,
      );
      this.text.replaceChildren(...steps.map((s, i) => this.tokenElement(s, i)));
    }

    tokenElement(s, i) {
      const kinds = [
        'token',
        s.closing && 'closing',
        View.isForced(s) && 'forced',
        s.token && s.token.special && 'special',
        !s.token && 'pending',
      ].filter(Boolean);
      const text = !s.token ? '▏' : s.token.end ? 'end' : tokenLabel(s.token);
      const notes = [
        s.closing
          ? 'written to end in time'
          : s.legal_mass !== undefined
            ? `legal mass ${percent(s.legal_mass)}`
            : '',
        View.isForced(s) ? 'forced' : '',
      ]
        .filter(Boolean)
        .join(', ');
      const element = make(
        'span',
        {
          class: kinds.join(' '),
          role: 'option',
          'data-step': i,
          tabindex: -1,
          'aria-selected': 'false',
          title: notes,
          style: `--heat:${heat(s.legal_mass)}`,
        },
        text,
      );
      if (s.token && s.token.text && s.token.text.includes('\n')) element.classList.add('breaks');
      return element;
    }

    /* Must the token's bytes have come whatever is chosen? */
    static isForced(s) {
      return Boolean(
        s.token &&
          s.forced &&
          s.token.text &&
          s.forced.text &&
          s.forced.text.startsWith(s.token.text),
      );
    }

    /* ---- one step ---- */

    step() {
      const {steps} = this.record,
        s = steps[this.index];
      this.range.value = this.index + 1;
      this.rangeLabel.textContent = `Step ${steps.length ? this.index + 1 : 0} of ${steps.length}`;
      this.previous.disabled = this.index === 0;
      this.next.disabled = this.index >= steps.length - 1;
      for (const element of this.text.children) {
        const selected = Number(element.dataset.step) === this.index;
        element.setAttribute('aria-selected', String(selected));
        element.tabIndex = selected ? 0 : -1;
      }
      [...this.strip.children].forEach((cell, i) =>
        cell.classList.toggle('here', i === this.index),
      );
      if (!s) return;
      this.root.dataset.mask = s.mask_us;
      this.writeHeadline(s);
      this.writeCandidates(s);
      this.writeFacts(s);
    }

    writeHeadline(s) {
      const of = `${count(s.allowed)} of ${count(this.record.vocabulary.size)} tokens were allowed`;
      const mass = Number.isFinite(s.legal_mass)
        ? `; they had ${percent(s.legal_mass)} of the model’s probability`
        : '';
      const took = !s.token
        ? 'Nothing is drawn here yet.'
        : s.closing
          ? `Written to end the text in time: ${tokenLabel(s.token)}. The model did not choose it.`
          : `Drawn: ${s.token.end ? 'the end' : tokenLabel(s.token)}${Number.isFinite(s.probability) ? `, with probability ${percent(s.probability)}` : ''}.`;
      this.headline.textContent = `${of}${mass}. ${took}`;
    }

    history() {
      return this.record.steps
        .slice(0, this.index)
        .filter((s) => s.token)
        .map((s) => s.token.id);
    }

    writeCandidates(s) {
      const candidates = (s.candidates || []).filter((c) => Number.isFinite(c.logit));
      const {rows, stages, left} = Numbers.apply(candidates, this.sliders.values, this.history());
      const captured = candidates.length;
      this.caption.textContent = !captured
        ? 'No logits were recorded at this step.'
        : `Probabilities are renormalised over the ${captured} captured tokens (the ${this.record.captured || captured} most likely before the mask, as many of those that may be drawn), ` +
          `except “of all tokens”: that is the model’s own, at temperature 1.${left ? '' : ' Nothing is left to draw from.'}`;
      this.stages.hidden = !captured;
      this.stages.replaceChildren(
        ...stages.map((stage) =>
          make(
            'li',
            {'data-stage': stage.name, class: stage.kept ? '' : 'empty'},
            make('b', {}, stage.name),
            ` keeps ${stage.kept}, mass ${percent(stage.mass)}${stage.bar === null ? '' : `, bar ${percent(stage.bar)}`}`,
          ),
        ),
      );
      const low = Math.min(...rows.map((r) => r.logit)),
        high = Math.max(...rows.map((r) => r.logit));
      this.table.replaceChildren(
        ...rows.map((row) =>
          this.candidateRow(s, row, high > low ? (row.logit - low) / (high - low) : 1),
        ),
      );
    }

    candidateRow(s, row, logitShare) {
      const c = row.candidate,
        all = Number.isFinite(s.log_sum) ? Math.exp(c.logit - s.log_sum) : null,
        drawn = s.token && s.token.id === c.id;
      const name = c.end ? 'end of the text' : tokenLabel(c),
        title = `token ${c.id}`;
      const token =
        this.take && c.allowed && !s.token
          ? make(
              'button',
              {
                type: 'button',
                class: 'take',
                title: `${title}: write it`,
                onclick: () => this.take(c.id),
              },
              name,
            )
          : make('span', {title}, name);
      const state = row.out
        ? OUT[row.out]
        : `kept${row.sum === null ? '' : `, sum ${percent(row.sum)}`}`;
      return make(
        'tr',
        {
          class: [row.out ? 'out' : 'in', `by-${row.out || 'none'}`, drawn && 'drawn']
            .filter(Boolean)
            .join(' '),
          'data-id': c.id,
        },
        make(
          'th',
          {scope: 'row', class: 'name'},
          token,
          drawn ? make('span', {class: 'badge'}, 'drawn') : null,
        ),
        bar(logitShare, row.logit.toFixed(2).replace(/^-0\.00$/, '0.00'), 'logit'),
        bar(all || 0, percent(all), 'all'),
        bar(row.before, percent(row.before), 'before'),
        make('td', {class: 'state'}, state),
        bar(row.p, percent(row.p), 'final'),
      );
    }

    /* ---- the position ---- */

    writeFacts(s) {
      const facts = [
        [
          'Allowed',
          `${count(s.allowed)} tokens${s.drawable !== undefined && s.drawable !== s.allowed ? `, ${count(s.drawable)} of them plain` : ''}`,
        ],
      ];
      if (Number.isFinite(s.legal_mass))
        facts.push([
          'Legal mass',
          make(
            'span',
            {class: 'mass', style: `--share:${s.legal_mass};--heat:${heat(s.legal_mass)}`},
            percent(s.legal_mass),
          ),
        ]);
      if (Number.isFinite(s.entropy))
        facts.push([
          'Entropy',
          `${s.entropy.toFixed(2)} nats before the mask${Number.isFinite(s.masked_entropy) ? `, ${s.masked_entropy.toFixed(2)} after` : ''}`,
        ]);
      if (s.mask_us !== undefined)
        facts.push([
          'Mask took',
          s.mask_us === 0
            ? 'less than the page’s clock can measure (0.1 ms)'
            : s.mask_us < 1000
              ? `${s.mask_us.toFixed(1)} µs`
              : `${(s.mask_us / 1000).toFixed(2)} ms`,
        ]);
      if (s.pointer !== undefined)
        facts.push([
          'JSON pointer',
          make('code', {}, s.pointer === '' ? '"" (the whole text)' : s.pointer),
        ]);
      const path = View.rulePath(s.frames || []);
      if (path) facts.push(['Rules', make('code', {}, path)]);
      facts.push(['May end here', s.complete ? 'yes' : 'no']);
      if (s.next)
        facts.push([
          'Next byte',
          make(
            'code',
            {class: 'next'},
            s.next.length
              ? s.next.map(rangeShown).join('  ')
              : s.complete
                ? 'none: the text is over'
                : 'none: a special token',
          ),
        ]);
      facts.push([
        'Must come next',
        s.forced
          ? make('code', {class: 'forced-text'}, label(s.forced))
          : 'nothing: it is a choice',
      ]);
      this.facts.replaceChildren(
        ...facts.map(([name, value]) =>
          make('div', {}, make('dt', {}, name), make('dd', {}, value)),
        ),
      );
      this.writeFrames(s);
    }

    /* The rules that are open, outermost first, if there is one stack. */
    static rulePath(frames) {
      const names = [];
      for (let i = 0, left = frames.length; left > 0 && frames[i]; left--) {
        if (frames[i].rule) names.unshift(frames[i].rule.slice(1, -1));
        if (frames[i].below.length !== 1) break;
        [i] = frames[i].below;
      }
      return frames.filter((f) => f.depth === 0).length > 1 ? '' : names.join(' › ');
    }

    writeFrames(s) {
      const frames = s.frames || [],
        shown = frames.map((f) =>
          make(
            'li',
            {style: `--depth:${Math.min(f.depth, 8)}`},
            make('span', {class: 'rule'}, f.rule ? f.rule.slice(1, -1) : `state ${f.state}`),
            make('code', {}, f.expression || `state ${f.state}`),
            f.count ? make('span', {class: 'times'}, `× ${f.count}`) : null,
            f.nullable ? make('span', {class: 'times'}, 'may end') : null,
          ),
        );
      const tops = frames.filter((f) => f.depth === 0).length;
      if (tops > 1)
        shown.unshift(
          make('li', {class: 'note'}, `ambiguous: ${tops} frames read on side by side`),
        );
      if (s.frames_total > frames.length)
        shown.push(
          make(
            'li',
            {class: 'note'},
            `and ${s.frames_total - frames.length}${s.frames_total === 1024 ? ' or more' : ''} below`,
          ),
        );
      if (!frames.length) shown.push(make('li', {class: 'note'}, 'empty: the text is over'));
      this.frames.replaceChildren(...shown);
    }
  }

  View.describe = describe;
  View.theme = theme;
  View.make = make;
  View.percent = percent;
  View.label = label;
  View.tokenLabel = tokenLabel;
  View.count = count;
  return View;
})();
