import { describe, expect, it } from '@jest/globals';
import { pointsOf } from '../../clients/dashboard/src/screens/prompts/evaluations/points.ts';
import { readLines } from '../../clients/dashboard/src/shared/json-lines.ts';

describe('points', () => {
  it.each([
    [0.036993, 0.05, 3.7],
    [0.0496, 0.05, 4.96],
    [0.04999, 0.05, 4.999],
    [0.05, 0.05, 5],
    [0.05, undefined, 5],
    [0, 0.05, 0],
  ])('of %p, beside a margin of %p, are %p', (share, margin, points) => {
    expect(pointsOf(share, margin)).toBe(points);
  });
});

describe('JSON Lines', () => {
  const bytes = new TextEncoder().encode('{"a":"ä"}\n\n{"a":2}\n{"a":3}');

  /** In pieces of one byte, so that a character comes in two. */
  function stream(): { body: ReadableStream<Uint8Array>; read: () => number } {
    let at = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (at === bytes.length) controller.close();
          else controller.enqueue(bytes.slice(at, (at += 1)));
        },
      },
      { highWaterMark: 0 },
    );
    return { body, read: () => at };
  }

  it('are read as they arrive, also a last one without an end', async () => {
    const lines: unknown[] = [];
    await readLines(stream().body, (line) => lines.push(line) > 0);
    expect(lines).toEqual([{ a: 'ä' }, { a: 2 }, { a: 3 }]);
  });

  it('are not read further than they are wanted', async () => {
    const { body, read } = stream();
    await readLines(body, () => false);
    expect(read()).toBe(bytes.indexOf(10) + 1);
  });
});
