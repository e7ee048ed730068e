/* sliders.js - the sliders beside the inspector: one for each stage of the sampler that a single step
 * shows.
 *
 * `new Sliders(changed)` builds them; `values` are the settings, by the names of numbers.js; start()
 * puts them where a record's draws were.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';

const Sliders = (() => {
  const {make} = Labels;

  const SLIDERS = [
    {
      key: 'temperature',
      name: 'Temperature',
      min: 0,
      max: 3,
      step: 0.05,
      plain: 1,
      help: 'logits are divided by it; 0 takes the most likely',
    },
    {
      key: 'dynamic',
      name: 'Dynamic range',
      min: 0,
      max: 2,
      step: 0.05,
      plain: 0,
      help: 'the temperature goes so far up and down, by entropy; 0 is off',
    },
    {
      key: 'topK',
      name: 'Top-k',
      min: 0,
      max: 32,
      step: 1,
      plain: 0,
      help: 'keep the k most likely; 0 keeps all',
    },
    {
      key: 'topP',
      name: 'Top-p',
      min: 0,
      max: 1,
      step: 0.01,
      plain: 1,
      help: 'keep the most likely that make up p; 1 keeps all',
    },
    {
      key: 'minP',
      name: 'Min-p',
      min: 0,
      max: 1,
      step: 0.01,
      plain: 0,
      help: 'keep what has at least this share of the most likely; 0 keeps all',
    },
    {
      key: 'typical',
      name: 'Typical-p',
      min: 0,
      max: 1,
      step: 0.01,
      plain: 1,
      help: 'keep the least surprising that make up p; 1 keeps all',
    },
    {
      key: 'sigma',
      name: 'Top-n-sigma',
      min: 0,
      max: 4,
      step: 0.1,
      plain: 0,
      help: 'keep logits within n standard deviations of the largest; 0 keeps all',
    },
    {
      key: 'epsilon',
      name: 'Epsilon',
      min: 0,
      max: 0.1,
      step: 0.001,
      plain: 0,
      help: 'keep what has at least this probability; 0 keeps all',
    },
    {
      key: 'eta',
      name: 'Eta',
      min: 0,
      max: 0.1,
      step: 0.001,
      plain: 0,
      help: 'the same, with a bound that falls with the entropy; 0 keeps all',
    },
    {
      key: 'xtc',
      name: 'XTC',
      min: 0,
      max: 0.5,
      step: 0.01,
      plain: 0,
      help: 'take all at least this likely but the last of them; 0 is off',
    },
    {
      key: 'penalty',
      name: 'Repetition penalty',
      min: 1,
      max: 2,
      step: 0.05,
      plain: 1,
      help: 'for tokens that came before; 1 is off',
    },
    {
      key: 'frequency',
      name: 'Frequency penalty',
      min: 0,
      max: 2,
      step: 0.05,
      plain: 0,
      help: 'subtracted for each time that a token came before',
    },
    {
      key: 'presence',
      name: 'Presence penalty',
      min: 0,
      max: 2,
      step: 0.05,
      plain: 0,
      help: 'subtracted once from tokens that came before',
    },
    {
      key: 'dry',
      name: 'DRY',
      min: 0,
      max: 4,
      step: 0.1,
      plain: 0,
      help: 'subtracted from tokens that prolong a repetition, more for longer ones',
    },
  ];

  class Sliders {
    constructor(changed) {
      this.values = {...Numbers.PLAIN};
      this.inputs = {};
      this.changed = changed;
      this.element = make(
        'fieldset',
        {class: 'sliders'},
        make('legend', {}, 'Try other settings on this step'),
        ...SLIDERS.map((s) => this.slider(s)),
        this.order(),
        make(
          'button',
          {type: 'button', id: 'as-recorded', onclick: () => this.recorded()},
          'As drawn',
        ),
      );
    }

    slider(s) {
      const id = `slider-${s.key}`,
        number = make('input', {
          type: 'number',
          id: `${id}-number`,
          min: s.min,
          max: s.max,
          step: 'any',
          value: s.plain,
          'aria-label': `${s.name}, as a number`,
        });
      const range = make('input', {
        type: 'range',
        id,
        min: s.min,
        max: s.max,
        step: s.step,
        value: s.plain,
        'aria-describedby': `${id}-help`,
      });
      const take = (value) => {
        if (value === '' || !Number.isFinite(Number(value))) return;
        this.set(s.key, Math.min(s.max, Math.max(s.min, Number(value))));
        this.changed();
      };
      range.addEventListener('input', () => take(range.value));
      number.addEventListener('change', () => take(number.value));
      this.inputs[s.key] = {range, number};
      return make(
        'div',
        {class: 'slider'},
        make('label', {for: id}, s.name),
        range,
        number,
        make('span', {id: `${id}-help`, class: 'help'}, s.help),
      );
    }

    order() {
      const radio = (value, text) =>
        make(
          'label',
          {},
          make('input', {
            type: 'radio',
            name: 'order',
            value,
            checked: value === 'mask',
            onchange: (event) => {
              this.values.maskFirst = event.target.value === 'mask';
              this.changed();
            },
          }),
          ` ${text}`,
        );
      this.radios = make(
        'div',
        {class: 'order', role: 'radiogroup', 'aria-label': 'Order of mask and cut-off'},
        radio('mask', 'mask, then cut-off (as Turnstile draws)'),
        radio('cut', 'cut-off, then mask'),
      );
      return this.radios;
    }

    set(key, value) {
      this.values[key] = value;
      this.inputs[key].range.value = value;
      this.inputs[key].number.value = value;
    }

    /* The settings that the text was drawn with. */
    start(sampling = {}) {
      this.sampling = sampling;
      const given = {
        temperature: sampling.temperature,
        topK: sampling.top_k,
        topP: sampling.top_p || 1,
        minP: sampling.min_p,
        penalty: sampling.repetition_penalty,
        frequency: sampling.frequency_penalty,
        presence: sampling.presence_penalty,
        dry: sampling.dry_multiplier,
        dynamic: sampling.dynamic_range,
        typical: sampling.typical_p || 1,
        sigma: sampling.top_n_sigma,
        epsilon: sampling.epsilon,
        eta: sampling.eta,
        xtc: sampling.xtc_probability === 1 ? sampling.xtc_threshold : 0,
      };
      for (const s of SLIDERS) this.set(s.key, given[s.key] ?? s.plain);
      this.values.maskFirst = true;
      this.radios.querySelector('input').checked = true;
    }

    recorded() {
      this.start(this.sampling);
      this.changed();
    }
  }

  return Sliders;
})();
