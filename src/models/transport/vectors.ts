/**
 * Keeps vectors out of the provider packages. They parse and check an answer as a whole, which stops the event loop for
 * seconds if it has millions of numbers, and know neither tokens nor base64. So each vector is read while the answer
 * comes, and the package gets its number in its place: `[[0.1, 0.2], [0.3, 0.4]]` becomes `[[0], [1]]`.
 */
import type { Turns } from '../../base/runtime/turns.ts';
import { badAnswer, tooLarge, type Failure } from '../call/failures.ts';
import {
  areFinite,
  fromBase64,
  mostDimensions,
  mostVectors,
  vectorsOf,
  type EmbeddingRequest,
  type Vector,
} from '../vectors.ts';
import { TextInPieces, type Fetch, type StreamFetch } from './http.ts';
import { BufferedResponse } from './whole-response.ts';

/** The vectors of a call. */
export interface ReadVectors {
  /** By the numbers that the package has in their place. */
  readonly vectors: readonly Vector[];
  /** Why reading them has failed. */
  readonly failure: Failure | undefined;
}

interface Reading {
  vectors: Vector[];
  failure: Failure | undefined;
  readonly request: EmbeddingRequest;
  readonly isOpenAiCompatible: boolean;
}

/** By the signal that ends a call: the packages hand it on to their `fetch`. */
const ofCalls = new WeakMap<AbortSignal, Reading>();

/**
 * Has the vectors of the next call with this signal read while its answer comes.
 *
 * @param isOpenAiCompatible whether its body gets the members of the request as they are
 */
export function expectVectors(
  signal: AbortSignal,
  request: EmbeddingRequest,
  isOpenAiCompatible: boolean,
): ReadVectors {
  const reading: Reading = { vectors: [], failure: undefined, request, isOpenAiCompatible };
  ofCalls.set(signal, reading);
  return reading;
}

/** @param streamFetch gives bodies while they come */
export function withVectors(streamFetch: StreamFetch, turns: Turns): Fetch {
  return async (url, init = {}) => {
    const reading = init.signal ? ofCalls.get(init.signal) : undefined;
    if (reading === undefined) return streamFetch(url, init);
    const { request, isOpenAiCompatible } = reading;
    const body = isOpenAiCompatible && typeof init.body === 'string' ? bodyOf(init.body, request) : init.body;
    const response = await streamFetch(url, { ...init, body: body as never }, mostBytes);
    if (!response.ok || response.body === null) return response;
    const { status, statusText } = response;
    const reader = new VectorReader(request, reading.vectors);
    const pieces = response.body.getReader();
    try {
      for (;;) {
        const { done, value } = await pieces.read();
        if (done) break;
        reader.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
        await turns();
      }
    } catch (error) {
      if (error instanceof VectorError) reading.failure = { ...error.failure, status };
      await pieces.cancel().catch(() => undefined);
      throw error;
    }
    // The packages look up fields of a record, or read entries.
    const headers = new Map(response.headers);
    return new BufferedResponse({ status, statusText, headers }, reader.end()) as unknown as Response;
  };
}

/** The body of a package that speaks OpenAI's API, with the members of the request in place of its own. */
function bodyOf(text: string, { input, encodingFormat, dimensions, user }: EmbeddingRequest): TextInPieces {
  const { model } = JSON.parse(text) as { model: string };
  const others = JSON.stringify({ encoding_format: encodingFormat, dimensions, user }).slice(1);
  const end = others === '}' ? others : `,${others}`;
  return new TextInPieces([`{"model":${JSON.stringify(model)},"input":`, ...partsOf(input), end]);
}

function* partsOf(input: EmbeddingRequest['input']): Generator<string> {
  if (typeof input === 'string') yield JSON.stringify(input);
  else for (const [index, one] of input.entries()) yield `${index === 0 ? '[' : ','}${JSON.stringify(one)}`;
  if (typeof input !== 'string') yield ']';
}

/** Ends reading vectors. */
class VectorError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.detail);
    this.name = 'VectorError';
    this.failure = failure;
  }
}

/** The most bytes of an answer. A number can take 32. */
const mostBytes = 256 * 1024 * 1024;
/** The most bytes of an answer besides its vectors. */
const mostOtherBytes = 4 * 1024 * 1024;
/** The most characters of a number. */
const mostDigits = 1_000;
/** The member of OpenAI's answers with a vector in base64. */
const base64Name = 'embedding';

/** Reads an answer piece by piece. */
class VectorReader {
  readonly #vectors: Vector[];
  readonly #dimensions: number;
  readonly #mostVectors: number;
  /** The answer, with numbers in place of vectors. */
  readonly #others: Buffer[] = [];
  #otherBytes = 0;
  #state: 'outside' | 'string' | 'numbers' | 'base64' = 'outside';
  /** An array has begun, and nothing of it has come. */
  #hasOpened = false;
  /** The last byte of a string was a backslash that escapes the next one. */
  #isEscaped = false;
  /** The begin of the last string. */
  #text = '';
  /** The name of the member whose value comes. */
  #name = '';
  /** What has come of a number, or of base64. */
  #rest = '';
  #numbers = new Float64Array(0);
  #length = 0;

  constructor(request: EmbeddingRequest, vectors: Vector[]) {
    const { dimensions } = vectorsOf(request);
    this.#vectors = vectors;
    this.#dimensions = request.dimensions === undefined ? mostDimensions : dimensions;
    this.#mostVectors = mostVectors(request);
  }

  push(piece: Buffer): void {
    for (let at = 0; at < piece.length;) {
      switch (this.#state) {
        case 'outside':
          at = this.#readOutside(piece, at);
          break;
        case 'string':
          at = this.#readString(piece, at);
          break;
        case 'numbers':
          at = this.#readNumbers(piece, at);
          break;
        case 'base64':
          at = this.#readBase64(piece, at);
          break;
      }
    }
  }

  end(): Buffer {
    return Buffer.concat(this.#others, this.#otherBytes);
  }

  #readOutside(piece: Buffer, from: number): number {
    for (let at = from; at < piece.length; at += 1) {
      const byte = piece[at];
      switch (byte) {
        case 0x20:
        case 0x09:
        case 0x0a:
        case 0x0d:
          continue;
        case 0x22: // "
          if (this.#name === base64Name) {
            this.#keep(piece.subarray(from, at));
            this.#state = 'base64';
          } else {
            this.#keep(piece.subarray(from, at + 1));
            this.#state = 'string';
            this.#text = '';
          }
          this.#hasOpened = false;
          return at + 1;
        case 0x3a: // :
          this.#name = this.#text;
          continue;
        case 0x5b: // [
          this.#hasOpened = true;
          this.#name = '';
          continue;
        default:
          if (this.#hasOpened && byte !== undefined && (byte === 0x2d || (byte >= 0x30 && byte <= 0x39))) {
            this.#keep(piece.subarray(from, at));
            this.#hasOpened = false;
            this.#state = 'numbers';
            this.#numbers = new Float64Array(this.#vectors.at(-1)?.length ?? Math.min(this.#dimensions, 256));
            this.#length = 0;
            return at;
          }
          this.#hasOpened = false;
          this.#name = '';
      }
    }
    this.#keep(piece.subarray(from));
    return piece.length;
  }

  #readString(piece: Buffer, from: number): number {
    for (let at = from; at < piece.length; at += 1) {
      if (this.#isEscaped) {
        this.#isEscaped = false;
        continue;
      }
      const byte = piece[at] ?? 0;
      if (byte === 0x5c) this.#isEscaped = true;
      if (byte === 0x22) {
        this.#keep(piece.subarray(from, at + 1));
        this.#state = 'outside';
        this.#name = '';
        return at + 1;
      }
      if (this.#text.length <= base64Name.length) this.#text += String.fromCharCode(byte);
    }
    this.#keep(piece.subarray(from));
    return piece.length;
  }

  #readNumbers(piece: Buffer, from: number): number {
    const end = piece.indexOf(0x5d, from);
    const text = this.#rest + piece.toString('latin1', from, end === -1 ? piece.length : end);
    const last = end === -1 ? text.lastIndexOf(',') : text.length;
    this.#rest = end === -1 ? text.slice(last + 1) : '';
    if (this.#rest.length > mostDigits) throw new VectorError(badAnswer());
    if (last !== -1) this.#add(text.slice(0, last));
    if (end === -1) return piece.length;
    // The package gets the `]`, too.
    this.#found(this.#numbers.length === this.#length ? this.#numbers : this.#numbers.slice(0, this.#length));
    return end;
  }

  #add(text: string): void {
    const numbers = numbersIn(text);
    const length = this.#length + numbers.length;
    if (length > this.#dimensions) {
      throw unfit(`The provider's answer has a vector of more than ${this.#dimensions} numbers.`);
    }
    if (length > this.#numbers.length) {
      const more = new Float64Array(Math.min(this.#dimensions, 2 * length));
      more.set(this.#numbers.subarray(0, this.#length));
      this.#numbers = more;
    }
    this.#numbers.set(numbers, this.#length);
    this.#length = length;
  }

  #readBase64(piece: Buffer, from: number): number {
    const end = piece.indexOf(0x22, from);
    this.#rest += piece.toString('latin1', from, end === -1 ? piece.length : end);
    // Each character can be escaped.
    if (this.#rest.length > 6 * 8 * this.#dimensions) throw new VectorError(tooLarge());
    if (end === -1) return piece.length;
    const vector = fromBase64(unescaped(this.#rest));
    if (vector === undefined) throw new VectorError(badAnswer());
    if (!areFinite(vector)) throw unfit(notFinite);
    if (vector.length > this.#dimensions) {
      throw unfit(`The provider's answer has a vector of more than ${this.#dimensions} numbers.`);
    }
    this.#rest = '';
    this.#keep(Buffer.from('['));
    this.#found(vector);
    this.#keep(Buffer.from(']'));
    return end + 1;
  }

  #found(vector: Vector): void {
    if (this.#vectors.length >= this.#mostVectors) throw unfit("The provider's answer has too many vectors.");
    this.#keep(Buffer.from(String(this.#vectors.length)));
    this.#vectors.push(vector);
    this.#state = 'outside';
    this.#name = '';
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#otherBytes += bytes.length;
    if (this.#otherBytes > mostOtherBytes) throw new VectorError(tooLarge());
    // A short one would keep all of its piece.
    this.#others.push(bytes.length < 1_024 ? Buffer.from(bytes) : bytes);
  }
}

const notFinite = "The provider's answer has a number that is not finite.";

/** A whole answer that is not what was asked for. */
function unfit(detail: string): VectorError {
  return new VectorError({ ...badAnswer(), detail });
}

function numbersIn(text: string): number[] {
  // What JSON calls a number, and nothing else that can be in an array.
  const isNumbers = /^[\d\s,.eE+-]*$/.test(text) && /\d/.test(text);
  let numbers: number[];
  try {
    numbers = isNumbers ? (JSON.parse(`[${text}]`) as number[]) : [];
  } catch {
    numbers = [];
  }
  if (numbers.length === 0) throw new VectorError(badAnswer());
  if (!areFinite(numbers)) throw unfit(notFinite);
  return numbers;
}

function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}
