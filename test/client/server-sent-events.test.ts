import { describe, expect, it } from '@jest/globals';
import { createEventParser, type ServerSentEvent } from '../../clients/typescript/src/server-sent-events.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The events of a stream whose pieces have this size. */
function parse(text: string, size: number): ServerSentEvent[] {
  const parser = createEventParser();
  const bytes = bytesOf(text);
  const starts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => index * size);
  return starts.flatMap((start) => parser(bytes.subarray(start, start + size)));
}

describe('the parser of Server-Sent Events', () => {
  const cases: Record<string, [string, ServerSentEvent[]]> = {
    'reads events with and without a name': [
      'event: text\ndata: {"a":1}\n\ndata: 2\n\n',
      [
        { name: 'text', data: '{"a":1}' },
        { name: '', data: '2' },
      ],
    ],
    'joins lines of data': ['data: one\ndata:\ndata: three\n\n', [{ name: '', data: 'one\n\nthree' }]],
    'reads lines that end with CR, LF or both': [
      'data: a\r\n\r\ndata: b\r\rdata: c\n\ndata: d\rdata: e\r\n\n',
      ['a', 'b', 'c', 'd\ne'].map((data) => ({ name: '', data })),
    ],
    'removes one space after the colon': [
      'data:  a \n\ndata:b:c\n\n',
      [' a ', 'b:c'].map((data) => ({ name: '', data })),
    ],
    'removes a byte order mark at the beginning only': [
      '\u{FEFF}data: a\n\ndata: \u{FEFF}b\n\n',
      ['a', '\u{FEFF}b'].map((data) => ({ name: '', data })),
    ],
    'skips comments, other fields and events without data': [
      ': keep-alive\n\nid: 7\nretry: 5\nunknown\nevent: empty\n\ndata: a\n: note\n\n',
      [{ name: '', data: 'a' }],
    ],
    'reads characters of several bytes': ['data: Zürich 🎉 日本\n\n', [{ name: '', data: 'Zürich 🎉 日本' }]],
    'reads a field without a colon as empty': ['data\n\n', [{ name: '', data: '' }]],
    'skips an event that is cut': ['data: a\n\ndata: b\n', [{ name: '', data: 'a' }]],
  };

  it.each(Object.entries(cases))('%s, wherever the stream is split', (_, [text, events]) => {
    for (let size = 1; size <= bytesOf(text).length; size += 1) expect(parse(text, size)).toEqual(events);
  });

  it('refuses a line that is too long before its end, and data that is too long in all its lines', () => {
    const endless = createEventParser(100);
    expect(endless(bytesOf('x'.repeat(100)))).toEqual([]);
    expect(() => endless(bytesOf('x'))).toThrow(RangeError);
    const manyLines = createEventParser(100);
    expect(manyLines(bytesOf('data: x\n'.repeat(50)))).toEqual([]);
    expect(() => manyLines(bytesOf('data: x\n'))).toThrow(RangeError);
    expect(createEventParser(100)(bytesOf('data: x\n\n'.repeat(100)))).toHaveLength(100);
  });
});
