import type { Turns } from '../base/runtime/turns.ts';
import type { GenerateResult } from './language-model.ts';
import type { EmbeddingRequest, Vector } from './vectors.ts';

/** The length of vectors, unless the request says another one. */
const usualDimensions = 64;
/** Characters or tokens that are read in a turn. */
const step = 16 * 1024;

/**
 * Vectors that count words: each in a place, and with a sign, that its hash says. They have length 1, so that texts with
 * many words in common are near one another. A token is a word. An input can have millions, so they are not kept.
 */
export async function echoVectors(
  { input, dimensions = usualDimensions }: EmbeddingRequest,
  turns: Turns,
): Promise<GenerateResult> {
  const isOne = typeof input === 'string' || typeof input[0] === 'number';
  const inputs = (isOne ? [input] : input) as readonly (string | readonly number[])[];
  const vectors: Vector[] = [];
  let inputTokens = 0;
  for (const one of inputs) {
    const counter = new WordCounter(dimensions);
    for (let from = 0; from < one.length; from += step) {
      await turns();
      if (typeof one === 'string') counter.read(one, from, Math.min(one.length, from + step));
      else for (const token of one.slice(from, from + step)) counter.add(token);
    }
    vectors.push(counter.end());
    inputTokens += counter.words;
  }
  return { content: [], finishReason: 'stop', usage: { inputTokens, outputTokens: 0 }, vectors };
}

const firstHash = 0x811c9dc5;

class WordCounter {
  words = 0;
  readonly #counts: Float64Array;
  /** FNV-1a of what has come of a word; undefined outside of words. */
  #hash: number | undefined;

  constructor(dimensions: number) {
    this.#counts = new Float64Array(dimensions);
  }

  /** Reads a part of a text. Its last word can go on in the next part. */
  read(text: string, from: number, to: number): void {
    for (let at = from; at < to; at += 1) {
      const unit = lowerUnit(text, at);
      if (unit === undefined) this.#endWord();
      else this.#hash = Math.imul((this.#hash ?? firstHash) ^ unit, 0x01000193);
    }
  }

  /** Adds a word. The last steps of MurmurHash3 make all bits depend on all bits. */
  add(hash: number): void {
    let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    mixed ^= mixed >>> 16;
    const place = (mixed >>> 1) % this.#counts.length;
    this.#counts[place] = (this.#counts[place] ?? 0) + ((mixed & 1) === 0 ? 1 : -1);
    this.words += 1;
  }

  /** @returns the vector of all words */
  end(): Float32Array {
    this.#endWord();
    const length = Math.hypot(...this.#counts) || 1;
    return Float32Array.from(this.#counts, (count) => count / length);
  }

  #endWord(): void {
    if (this.#hash !== undefined) this.add(this.#hash);
    this.#hash = undefined;
  }
}

/** The lower case of a unit of a text; undefined if it is no part of a word. Words are runs of letters and digits. */
function lowerUnit(text: string, at: number): number | undefined {
  const unit = text.charCodeAt(at);
  if (unit < 0x80) {
    const lower = unit >= 0x41 && unit <= 0x5a ? unit | 0x20 : unit;
    return (lower >= 0x61 && lower <= 0x7a) || (lower >= 0x30 && lower <= 0x39) ? lower : undefined;
  }
  const isSecond = unit >= 0xdc00 && unit <= 0xdfff;
  const character = String.fromCodePoint(text.codePointAt(isSecond ? at - 1 : at) ?? unit);
  if (!/[\p{L}\p{N}]/u.test(character)) return undefined;
  return character.toLowerCase().charCodeAt(isSecond ? 1 : 0);
}
