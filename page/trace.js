/* trace.js - the inspector's page: shows the record that stands in it, or another one that is
 * opened.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';

(() => {
  const inspector = new Inspector(document.getElementById('inspector'));
  const about = document.getElementById('about');

  function show(text) {
    let record;
    try {
      record = JSON.parse(text);
      if (record.format !== 'turnstile-trace' || record.version !== 1)
        throw new Error('this is no record of a generation (format turnstile-trace, version 1)');
    } catch (error) {
      about.textContent = `Cannot be shown: ${error.message}`;
      about.setAttribute('role', 'alert');
      return;
    }
    about.removeAttribute('role');
    about.textContent = Inspector.describe(record);
    inspector.show(record);
  }

  document.getElementById('open').addEventListener('change', async (event) => {
    const [file] = event.target.files;
    if (file) show(await file.text());
    event.target.value = ''; /* so that the same file can be opened again */
  });
  Inspector.theme(document.getElementById('theme'));
  inspector.listen(document);
  show(document.getElementById('trace').textContent);
})();
