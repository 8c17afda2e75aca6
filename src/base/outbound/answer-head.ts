/**
 * The head of an answer (RFC 9112), read before undici reads it, because the parser of undici is strict. Informational
 * answers are removed: undici closes the connection at a 100 that it did not ask for, and a client has to ignore it
 * (RFC 9110, section 15.2). Heads of old servers are written anew if they can be read in only one way. All else is left
 * to the parser, which refuses it.
 */

/** An answer that is not read. Callers read its `code`, as of a system error. */
export class UnreadableAnswerError extends Error {
  readonly code: 'ANSWER_TOO_LONG' | 'NOT_HTTP';

  constructor(code: UnreadableAnswerError['code']) {
    super(code === 'NOT_HTTP' ? 'The answer is not HTTP.' : 'The answer is too long.');
    this.name = 'UnreadableAnswerError';
    this.code = code;
  }
}

/** The most bytes of an answer before its body: informational answers, status line and headers. */
export const mostHeadBytes = 64 * 1_024;

const lf = 0x0a;
const cr = 0x0d;
const nothing = Buffer.alloc(0);
const version = [...Buffer.from('HTTP/1.')];
const statusLine = /^HTTP\/1\.\d \d{3}[ \r\n]/;
const statusBegin = 9;

/** The head of one answer, while it comes. */
export class AnswerHead {
  /** What has come since the last informational answer. More can be written behind `#length`. */
  #held: Buffer = nothing;
  #length = 0;
  /** Where the search for the end of the head continues. */
  #searched = 0;
  #removed = 0;

  /**
   * @param chunk the next bytes of the connection
   * @param isLast whether the connection is not used again after this answer
   * @returns what the parser reads: the final head and what follows it; undefined while the head is not whole
   * @throws UnreadableAnswerError
   */
  take(chunk: Buffer, isLast = false): Buffer | undefined {
    this.#add(chunk);
    for (;;) {
      const bytes = this.#length === this.#held.length ? this.#held : this.#held.subarray(0, this.#length);
      if (!beginsLikeHead(bytes)) return bytes;
      const end = this.#findEnd(bytes);
      if (this.#removed + (end ?? bytes.length) > mostHeadBytes) throw new UnreadableAnswerError('ANSWER_TOO_LONG');
      if (end === undefined) return undefined;
      const head = bytes.toString('latin1', 0, end);
      const kind = statusLine.test(head) ? head[statusBegin] : undefined;
      if (kind === '0') throw new UnreadableAnswerError('NOT_HTTP');
      if (kind !== '1') {
        return isLast || isOdd(head)
          ? Buffer.concat([Buffer.from(rewrite(head), 'latin1'), bytes.subarray(end)])
          : bytes;
      }
      // Another protocol follows, which was not asked for.
      if (/^upgrade[ \t]*:/im.test(head)) throw new UnreadableAnswerError('NOT_HTTP');
      this.#held = this.#held.subarray(end);
      this.#length -= end;
      this.#removed += end;
      this.#searched = 0;
    }
  }

  #add(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (this.#length === 0) {
      this.#held = chunk;
    } else {
      if (length > this.#held.length) {
        // Twice as long, so that not each byte of a head that comes byte by byte is copied many times.
        const larger = Buffer.allocUnsafe(length * 2);
        this.#held.copy(larger, 0, 0, this.#length);
        this.#held = larger;
      }
      chunk.copy(this.#held, this.#length);
    }
    this.#length = length;
  }

  /** @returns where the head ends: behind its first empty line; undefined if that has not come */
  #findEnd(bytes: Buffer): number | undefined {
    for (let at = this.#searched; ; at += 1) {
      at = bytes.indexOf(lf, at);
      if (at === -1) {
        this.#searched = bytes.length;
        return undefined;
      }
      const next = bytes[at + 1] === cr ? at + 2 : at + 1;
      if (next >= bytes.length) {
        this.#searched = at;
        return undefined;
      }
      if (bytes[next] === lf) return next + 1;
    }
  }
}

/** Whether the bytes, as far as they have come, can be the begin of a head. */
function beginsLikeHead(bytes: Buffer): boolean {
  return version.every((byte, at) => at >= bytes.length || bytes[at] === byte);
}

/** Whether a head is not as the parser wants it, and can be written anew. The time is linear, whatever the head has. */
function isOdd(head: string): boolean {
  let length: string | undefined;
  let isEncoded = false;
  for (let begin = 0, end; begin < head.length; begin = end + 1) {
    end = head.indexOf('\n', begin);
    if (head[end - 1] !== '\r' || isBlank(head[begin])) return true;
    if (begin === 0 || end === begin + 1) continue;
    const colon = head.indexOf(':', begin);
    if (colon === -1 || colon > end) return false;
    if (isBlank(head[colon - 1])) return true;
    const name = framingOf(head, begin, colon);
    if (name === undefined) continue;
    const value = trimmed(head.slice(colon + 1, end - 1));
    if (name === transferEncoding) {
      isEncoded = true;
      if (isIdentity(value)) return true;
    } else {
      if (length !== undefined || value.includes(',')) return true;
      length = value;
    }
  }
  return length !== undefined && (isEncoded || (length !== '0' && isWithoutBody(head)));
}

/**
 * Writes a head anew. Folded lines become blanks, and blanks before a colon go (RFC 9112, section 5). Equal lengths
 * become one; a length goes if there is a transfer encoding (section 6.3), or no body. The connection is not used again: a
 * server that breaks these rules can have meant something else.
 *
 * @throws UnreadableAnswerError if it can be read in more than one way
 */
function rewrite(head: string): string {
  const [status = '', ...lines] = head.split(/\r?\n/);
  const fields: { readonly name: string; value: string }[] = [];
  for (const line of lines) {
    if (line === '') continue;
    if (isBlank(line[0])) {
      // What follows the status line belongs to no field.
      const last = fields.at(-1);
      if (last !== undefined) last.value += ` ${trimmed(line)}`;
      continue;
    }
    const colon = line.indexOf(':');
    if (colon === -1) throw new UnreadableAnswerError('NOT_HTTP');
    fields.push({ name: trimmed(line.slice(0, colon)), value: trimmed(line.slice(colon + 1)) });
  }
  const named = (name: string): string[] =>
    fields.filter((field) => field.name.toLowerCase() === name).map(({ value }) => trimmed(value));
  const encodings = named(transferEncoding).filter((value) => !isIdentity(value));
  const [length, ...others] = new Set(named(contentLength).flatMap((value) => value.split(',').map(trimmed)));
  const hasLength = length !== undefined && encodings.length === 0 && !isWithoutBody(status);
  if (hasLength && others.length > 0) throw new UnreadableAnswerError('NOT_HTTP');
  const written = fields.filter(({ name }) => !rewritten.has(name.toLowerCase()));
  for (const value of encodings) written.push({ name: transferEncoding, value });
  if (hasLength) written.push({ name: contentLength, value: length });
  written.push({ name: 'connection', value: 'close' });
  return `${status}\r\n${written.map(({ name, value }) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

const contentLength = 'content-length';
const transferEncoding = 'transfer-encoding';
const rewritten: ReadonlySet<string> = new Set([contentLength, transferEncoding, 'connection']);

/** @returns the name of a field that says how long the body is */
function framingOf(head: string, begin: number, end: number): string | undefined {
  if (end - begin !== contentLength.length && end - begin !== transferEncoding.length) return undefined;
  const name = head.slice(begin, end).toLowerCase();
  return name === contentLength || name === transferEncoding ? name : undefined;
}

/** The body is as it is, which RFC 2616 had a name for. */
function isIdentity(encoding: string): boolean {
  return encoding.toLowerCase() === 'identity';
}

/** Whether there is no body, whatever the head says (RFC 9112, section 6.3). */
function isWithoutBody(head: string): boolean {
  return head.startsWith('204', statusBegin) || head.startsWith('304', statusBegin);
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

/** Without blanks around it. `trim` takes bytes of letters in UTF-8 away. */
function trimmed(text: string): string {
  let begin = 0;
  let end = text.length;
  while (begin < end && isBlank(text[begin])) begin += 1;
  while (end > begin && isBlank(text[end - 1])) end -= 1;
  return text.slice(begin, end);
}
