/* The kernels for WebGPU in a browser: node tests/page/device_test.js turnstile.wgsl CASES
 *
 * Chromium's adapter in software (SwiftShader) runs them. CASES is what `device write`
 * wrote (tests/hosts/device/device.cpp): batches, of words of 32 bits. Each begins with rows, width,
 * stride and masks_stride. Then come the logits (float32), 2 * rows masks, and a task of nine words
 * for each row. Last come the tokens that the library draws, and a word for each row, which is 0
 * where rounding may decide.
 *
 * Greedy draws must be the library's. Of the others MOST_DIFFER may differ, as the top of
 * turnstile.wgsl explains; how many do is printed. Masks must be exact.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';
const fs = require('fs');
const http = require('http');
const {check, end, chromiumWith} = require('./browser.js');

const [source, cases] = process.argv.slice(2);
const MOST_DIFFER = 0.02;
const FLAGS = [
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--enable-features=Vulkan',
];

/* Run all batches; what each row gave. Stands alone: it runs in the page. */
async function runAll() {
  const code = await (await fetch('/code')).text(),
    bytes = await (await fetch('/cases')).arrayBuffer();
  const adapter = await navigator.gpu.requestAdapter();
  if (!adapter) return {error: 'no adapter'};
  const device = await adapter.requestDevice(),
    lost = [];
  device.onuncapturederror = (event) => lost.push(event.error.message);
  const module = device.createShaderModule({code}),
    messages = (await module.getCompilationInfo()).messages.map(
      (m) => `${m.type} ${m.lineNum}:${m.linePos} ${m.message}`,
    );
  const pipeline = (entryPoint) =>
    device.createComputePipelineAsync({layout: 'auto', compute: {module, entryPoint}});
  let draw, apply;
  try {
    draw = await pipeline('draw');
    apply = await pipeline('apply');
  } catch (error) {
    return {error: `${error.message} ${messages.join('; ')}`};
  }
  const {STORAGE, UNIFORM, COPY_SRC, COPY_DST, MAP_READ} = GPUBufferUsage;
  const buffer = (data, usage) => {
    const made = device.createBuffer({
      size: Math.max(data.byteLength, 16),
      usage: usage | COPY_DST,
    });
    device.queue.writeBuffer(made, 0, data);
    return made;
  };
  /* Run one kernel, and read a buffer back. */
  const run = async (kernel, buffers, groups, from, size) => {
    const encoder = device.createCommandEncoder(),
      pass = encoder.beginComputePass(),
      back = device.createBuffer({size, usage: MAP_READ | COPY_DST});
    pass.setPipeline(kernel);
    pass.setBindGroup(
      0,
      device.createBindGroup({
        layout: kernel.getBindGroupLayout(0),
        entries: buffers.map((b, binding) => ({binding, resource: {buffer: b}})),
      }),
    );
    pass.dispatchWorkgroups(...groups);
    pass.end();
    encoder.copyBufferToBuffer(from, 0, back, 0, size);
    device.queue.submit([encoder.finish()]);
    await back.mapAsync(GPUMapMode.READ);
    return new Uint32Array(back.getMappedRange().slice(0));
  };
  const batches = [];
  for (let at = 0; at < bytes.byteLength; ) {
    const take = (count) => {
      const words = new Uint32Array(bytes.slice(at, at + 4 * count));
      at += 4 * count;
      return words;
    };
    const [rows, width, stride, masksStride] = take(4),
      logits = take(rows * stride),
      masks = take(2 * rows * masksStride),
      tasks = take(9 * rows),
      expected = take(rows),
      same = take(rows);
    const shape = buffer(new Uint32Array([width, stride, masksStride, 0]), UNIFORM),
      row = buffer(logits, STORAGE | COPY_SRC),
      masked = buffer(masks, STORAGE),
      task = buffer(tasks, STORAGE),
      scratch = buffer(
        new Uint32Array(rows * (12288 + 4 * Math.ceil(width / 512))).fill(0xdeadbeef),
        STORAGE,
      ),
      tokens = buffer(new Uint32Array(rows).fill(12345), STORAGE | COPY_SRC);
    const drawn = await run(
      draw,
      [shape, row, masked, task, scratch, tokens],
      [rows],
      tokens,
      4 * rows,
    );
    /* Every task gets a mask: its own, or the first of the table, which allows nothing. */
    const all = tasks.map((word, i) => (i % 9 === 1 && word === 0xffffffff ? 0 : word));
    const after = await run(
      apply,
      [shape, row, masked, buffer(all, STORAGE)],
      [rows, Math.ceil(width / 2048)],
      row,
      4 * logits.length,
    );
    let wrong = 0;
    for (let i = 0; i < logits.length; i++) {
      const r = Math.floor(i / stride),
        column = i % stride,
        mask = all[9 * r + 1] * masksStride + (column >> 5);
      const allowed = column >= width || (masks[mask] >>> (column & 31)) & 1;
      if (after[i] !== (allowed ? logits[i] : 0xff800000)) wrong++;
    }
    batches.push({
      width,
      drawn: [...drawn],
      expected: [...expected],
      same: [...same],
      greedy: [...expected].map((_, i) => tasks[9 * i + 3] >>> 31 === 1),
      applied: wrong,
    });
  }
  const info = adapter.info || {};
  return {batches, messages, lost, name: `${info.vendor} ${info.architecture} ${info.description}`};
}

function answer(request, response) {
  const files = {'/code': source, '/cases': cases};
  response.end(
    files[request.url]
      ? fs.readFileSync(files[request.url])
      : '<!doctype html><title>device</title><link rel="icon" href="data:,">',
  );
}

async function main() {
  const server = http.createServer(answer);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const browser = await chromiumWith(FLAGS),
    page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  const result = await page.evaluate(runAll);
  if (check(!result.error, `kernels for WebGPU: ${result.error}`)) {
    check(!result.messages.length, result.messages.join('; '));
    check(!result.lost.length, result.lost.join('; '));
    let other = 0,
      differ = 0;
    for (const batch of result.batches) {
      check(batch.applied === 0, `width ${batch.width}: ${batch.applied} logits masked wrongly`);
      batch.drawn.forEach((token, i) => {
        const same = token === batch.expected[i];
        if (batch.greedy[i])
          check(same, `width ${batch.width}, row ${i}: ${token}, the library ${batch.expected[i]}`);
        else {
          other++;
          if (!same) differ++;
        }
      });
    }
    check(other > 100 && differ <= MOST_DIFFER * other, `${differ} of ${other} tokens differ`);
    console.log(`  WebGPU on ${result.name}: ${other} tokens drawn, of which ${differ} differ`);
  }
  await browser.close();
  server.close();
  end();
}

main();
