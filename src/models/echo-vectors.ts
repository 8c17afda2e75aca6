import { hash } from 'node:crypto';
import type { GenerateResult } from './language-model.ts';
import type { EmbeddingRequest } from './vectors.ts';

/** The length of vectors, unless the request says another one. */
const usualDimensions = 64;

/**
 * Vectors that count words: each in a place, and with a sign, that its SHA-256 says. They have length 1, so that texts
 * with many words in common are near one another. A token is a word.
 */
export function echoVectors({ input, dimensions = usualDimensions }: EmbeddingRequest): GenerateResult {
  const inputs = typeof input === 'string' || typeof input[0] === 'number' ? [input] : input;
  const words = inputs.map(wordsIn);
  const vectors = words.map((list) => {
    const vector = new Float32Array(dimensions);
    for (const word of list) {
      const digest = hash('sha256', word, 'buffer');
      const place = digest.readUInt32LE(0) % dimensions;
      vector[place] = (vector[place] ?? 0) + (digest.readInt8(4) < 0 ? -1 : 1);
    }
    const length = Math.hypot(...vector) || 1;
    return vector.map((number) => number / length);
  });
  const inputTokens = words.reduce((sum, { length }) => sum + length, 0);
  return { content: [], finishReason: 'stop', usage: { inputTokens, outputTokens: 0 }, vectors };
}

function wordsIn(input: unknown): string[] {
  return typeof input === 'string'
    ? (input.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
    : (input as number[]).map(String);
}
