/** An event of a stream. The members `id` and `retry`, which are for reconnections, are left out. */
export interface ServerSentEvent {
  /** The type of the event; empty if the stream names none. */
  name: string;
  data: string;
}

/** The most characters of a line, and of the data of an event. A whole answer of the service has fewer. */
const longestEvent = 32 * 2 ** 20;

/**
 * Creates a parser of one stream of Server-Sent Events (WHATWG HTML, section 9.2.6). It takes the bytes in pieces of
 * any size and returns the events that each piece completes. Comments are skipped, and so is an event that is cut.
 *
 * @param limit the most characters of a line, and of the data of an event
 * @throws RangeError from the parser, if a line or an event is longer
 */
export function createEventParser(limit = longestEvent): (bytes: Uint8Array) => ServerSentEvent[] {
  // It removes the byte order mark, and keeps the bytes of a character that a piece ends in.
  const decoder = new TextDecoder();
  let line = '';
  let endedWithCr = false;
  let name = '';
  let data: string[] = [];
  let length = 0;

  /** Reads a whole line. @returns the event that it ends */
  const read = (): ServerSentEvent | undefined => {
    if (line === '') {
      const event = data.length === 0 ? undefined : { name, data: data.join('\n') };
      [name, data, length] = ['', [], 0];
      return event;
    }
    const [, field, value = ''] = /^([^:]*)(?:: ?)?([^]*)$/.exec(line) ?? [];
    if (field === 'event') name = value;
    if (field === 'data') {
      length += value.length + 1;
      if (length > limit) throw new RangeError(`an event has more than ${limit} characters`);
      data.push(value);
    }
    return undefined;
  };

  return (bytes) => {
    let text = decoder.decode(bytes, { stream: true });
    if (text === '') return [];
    // A line feed that belongs to the end of the previous piece.
    if (endedWithCr && text.startsWith('\n')) text = text.slice(1);
    endedWithCr = text.endsWith('\r');
    const pieces = text.split(/\r\n|\r|\n/);
    const rest = pieces.pop() ?? '';
    const events: ServerSentEvent[] = [];
    for (const piece of pieces) {
      line += piece;
      const event = read();
      if (event !== undefined) events.push(event);
      line = '';
    }
    line += rest;
    if (line.length > limit) throw new RangeError(`a line has more than ${limit} characters`);
    return events;
  };
}
