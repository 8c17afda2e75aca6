import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { residentMemory } from '../../bench/processes.ts';
import type { Figure, Scenario, Target } from '../hostile-world.ts';
import { monitorLoop } from '../loop-monitor.ts';
import { longestStop } from './large-bodies.ts';

const inputs = 2_048;
const dimensions = 3_072;

/** The largest answer of OpenAI's models, as OpenAI writes it. */
function answerOf(format: string): Buffer {
  const vector = Float32Array.from({ length: dimensions }, (_, place) => Math.sin(place + 0.5) / 50);
  const base64 = JSON.stringify(Buffer.from(vector.buffer).toString('base64'));
  const embedding = format === 'base64' ? base64 : `[\n        ${[...vector].join(',\n        ')}\n      ]`;
  const data = Array.from(
    { length: inputs },
    (_, index) =>
      `    {\n      "object": "embedding",\n      "index": ${index},\n      "embedding": ${embedding}\n    }`,
  );
  const usage = '{ "prompt_tokens": 4096, "total_tokens": 4096 }';
  return Buffer.from(`{\n  "object": "list",\n  "data": [\n${data.join(',\n')}\n  ],\n  "usage": ${usage}\n}\n`);
}

/** Asks for vectors. @param readsAll false to take nothing of the answer @returns the status and the bytes of the answer */
function ask(target: Target, body: string, readsAll = true): Promise<{ status: number; bytes: number }> {
  const { hostname, port } = new URL(target.url);
  const headers = { authorization: `Bearer ${target.adminKey}`, 'content-type': 'application/json' };
  return new Promise((resolve) => {
    const sent = httpRequest({ hostname, port, path: '/v1/embeddings', method: 'POST', headers }, (answer) => {
      let bytes = 0;
      const { statusCode: status = 0 } = answer;
      if (!readsAll) resolve({ status, bytes });
      else
        answer.on('data', (chunk: Buffer) => (bytes += chunk.length)).once('close', () => resolve({ status, bytes }));
    });
    sent.once('error', () => {
      resolve({ status: 0, bytes: 0 });
    });
    sent.end(body);
  });
}

const largest: Scenario = {
  name: 'large-vectors',
  about: `${inputs} vectors of ${dimensions} numbers in every form, 300,000 tokens, echo with 8 MB of words, then eight callers who take nothing`,
  async run(world) {
    const { environment, read: loop } = monitorLoop();
    const answers = new Map(['float', 'base64'].map((format) => [format, answerOf(format)]));
    const server = createServer((request, response) => {
      request.resume().once('end', () => response.end(answers.get(request.url?.split('/')[1] ?? '')));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const providers = ['float', 'base64'].map((id) => ({ id, base_url: `${base}/${id}`, models: ['embed'] }));
    const target = await world.startTarget({ OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify(providers), ...environment });
    try {
      const texts = Array.from({ length: inputs }, () => 'a');
      const tokens = Array.from({ length: inputs }, (_, index) => Array.from({ length: 146 }, (__, at) => index * at));
      const figures: Figure[] = [];
      for (const sends of ['float', 'base64']) {
        for (const wants of ['float', 'base64']) {
          const input = wants === 'float' ? texts : tokens;
          await loop();
          const began = performance.now();
          const body = JSON.stringify({ model: `${sends}/embed`, input, encoding_format: wants });
          const { status, bytes } = await ask(target, body);
          const took = performance.now() - began;
          const { longestMs } = await loop();
          const of = `the provider sends ${sends}, the caller wants ${wants}`;
          figures.push(
            { name: `${of}: status`, value: status, atLeast: 200, atMost: 200 },
            { name: `${of}: answer`, value: bytes / 1e6, unit: 'MB', atLeast: 30 },
            { name: `${of}: until its end`, value: took / 1_000, unit: 's' },
            { name: `${of}: longest stop of the event loop`, value: longestMs, unit: 'ms', atMost: longestStop },
          );
        }
      }
      const ofEcho = [];
      for (const [of, input] of [
        ['4 million words', 'a '.repeat(4_000_000)],
        ['a word of 8 MB', 'ä'.repeat(4_000_000)],
        ['300,000 tokens', tokens],
      ] as const) {
        await loop();
        const { status } = await ask(target, JSON.stringify({ model: 'echo/echo-embed', input }));
        const { longestMs } = await loop();
        ofEcho.push(
          { name: `echo, ${of}: status`, value: status, atLeast: 200, atMost: 200 },
          { name: `echo, ${of}: longest stop of the event loop`, value: longestMs, unit: 'ms', atMost: longestStop },
        );
      }
      const before = await residentMemory(target.pid);
      const body = JSON.stringify({ model: 'base64/embed', input: texts });
      await loop();
      const begun = await Promise.all(Array.from({ length: 8 }, () => ask(target, body, false)));
      const { longestMs } = await loop();
      const statuses = begun.map(({ status }) => status);
      return [
        ...figures,
        ...ofEcho,
        {
          name: 'callers who take nothing: answered 200',
          value: statuses.filter((status) => status === 200).length,
          atLeast: 1,
        },
        {
          name: 'refused with 429 or 503',
          value: statuses.filter((status) => status === 429 || status === 503).length,
        },
        { name: 'without an answer', value: statuses.filter((status) => status === 0).length, atMost: 0 },
        { name: 'longest stop of the event loop', value: longestMs, unit: 'ms', atMost: longestStop },
        { name: 'memory of the service before', value: before, unit: 'MiB' },
        { name: 'memory of the service', value: await residentMemory(target.pid), unit: 'MiB', atMost: 900 },
      ];
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },
};

export const scenarios: readonly Scenario[] = [largest];
