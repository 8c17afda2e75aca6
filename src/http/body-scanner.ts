/** The most members of objects and elements of arrays in a body, in all, unless its operation takes more. */
export const maxValues = 50_000;
/** The most arrays and objects around one another in a body: the outermost, and 64 levels in it. */
export const maxNesting = 65;
/** The most bytes of a body apart from its long strings, such as images: everything that is parsed at once. */
export const maxPlainBytes = 4 * 1024 * 1024;
/** A value that is a string with at least so many bytes is long. */
export const longStringBytes = 1024;

/** A long string of a body: the bytes between its quotation marks. */
export interface LongString {
  readonly start: number;
  readonly end: number;
}

const quote = 0x22;
const backslash = 0x5c;
/** How many bytes of a string are read one by one before the next quotation mark is searched, which is faster. */
const nearBytes = 32;

/**
 * Reads the bytes of a JSON body as they arrive, before any value is made of them. It counts members, elements and
 * levels, so that reading can stop at the first too many, and finds the long strings. It does not check whether the
 * bytes are JSON: for what is not, the counts are about right, and `JSON.parse` refuses it later.
 */
export class BodyScanner {
  /** The long strings in their order, without names of members. Whole after the last byte. */
  readonly longStrings: LongString[] = [];
  readonly #mostValues: number;
  /** The members and elements so far. */
  values = 0;
  /** Position of the next byte in the body. */
  #position = 0;
  #nesting = 0;
  #longBytes = 0;
  /** The start of the string that the next byte is in. */
  #string: number | undefined;
  #isEscaped = false;
  /** The last significant byte opened an array or object, which may be empty. */
  #hasOpened = false;
  /** The last significant byte ended a long string, which may be the name of a member. */
  #hasEndedLong = false;

  constructor(mostValues = maxValues) {
    this.#mostValues = mostValues;
  }

  /** @returns what is too much, as a sentence for the caller; undefined if nothing is */
  scan(chunk: Buffer): string | undefined {
    let at = 0;
    while (at < chunk.length) {
      at = this.#string === undefined ? this.#scanOutside(chunk, at) : this.#scanString(chunk, at, this.#string);
      if (this.values > this.#mostValues) return `The body has more than ${this.#mostValues} members and elements.`;
      if (this.#nesting > maxNesting) return `The body is nested deeper than ${maxNesting - 1} levels.`;
    }
    this.#position += chunk.length;
    const unfinished = this.#string === undefined ? 0 : this.#position - this.#string;
    const plain = this.#position - this.#longBytes - (unfinished >= longStringBytes ? unfinished : 0);
    if (plain > maxPlainBytes) {
      return `The body has more than ${maxPlainBytes} bytes apart from strings of at least ${longStringBytes} bytes.`;
    }
    return undefined;
  }

  /** @returns the index after the start of the next string, or after what is too much, or the end of the chunk */
  #scanOutside(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at];
      switch (byte) {
        case 0x20:
        case 0x09:
        case 0x0a:
        case 0x0d:
          continue;
        case 0x5d: // ]
        case 0x7d: // }
          this.#nesting -= 1;
          this.#hasOpened = false;
          break;
        case 0x2c: // ,
          this.values += 1;
          break;
        case 0x3a: // :
          if (this.#hasEndedLong) this.#takeBack();
          break;
        default:
          if (this.#hasOpened) {
            this.#hasOpened = false;
            this.values += 1;
          }
          if (byte === 0x5b || byte === 0x7b) {
            this.#nesting += 1;
            this.#hasOpened = true;
          }
      }
      this.#hasEndedLong = false;
      if (byte === quote) {
        this.#string = this.#position + at + 1;
        return at + 1;
      }
      if (this.values > this.#mostValues || this.#nesting > maxNesting) return at + 1;
    }
    return chunk.length;
  }

  /** @returns the index after the string, or the end of the chunk */
  #scanString(chunk: Buffer, from: number, start: number): number {
    let at = from;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      at += 1;
    }
    let next = -1;
    while (at < chunk.length) {
      for (const near = Math.min(at + nearBytes, chunk.length); at < near; at += 1) {
        const byte = chunk[at];
        if (byte === quote) return this.#endString(start, at);
        if (byte === backslash) at += 1;
      }
      if (at >= chunk.length) break;
      // A quotation mark that was found can be one after a backslash, so it is only a limit for the next search.
      if (next < at) next = indexOrEnd(chunk, quote, at);
      const escape = chunk.subarray(at, next).indexOf(backslash);
      at = escape === -1 ? next : at + escape;
    }
    this.#isEscaped = at > chunk.length;
    return chunk.length;
  }

  #endString(start: number, at: number): number {
    const end = this.#position + at;
    if (end - start >= longStringBytes) {
      this.longStrings.push({ start, end });
      this.#longBytes += end - start;
      this.#hasEndedLong = true;
    }
    this.#string = undefined;
    return at + 1;
  }

  /** The last long string is the name of a member. */
  #takeBack(): void {
    const name = this.longStrings.pop();
    if (name !== undefined) this.#longBytes -= name.end - name.start;
  }
}

function indexOrEnd(chunk: Buffer, byte: number, from: number): number {
  const index = chunk.indexOf(byte, from);
  return index === -1 ? chunk.length : index;
}
