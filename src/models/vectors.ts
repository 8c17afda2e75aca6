/** What is wanted as vectors, as OpenAI's API writes it. */
export interface EmbeddingRequest {
  /** A text, several, or the tokens of either. */
  readonly input: string | readonly string[] | readonly number[] | readonly (readonly number[])[];
  readonly encodingFormat?: VectorFormat;
  /** The length of the vectors; that of the model if left out. */
  readonly dimensions?: number;
  readonly user?: string;
}

export type VectorFormat = 'float' | 'base64';

/** The numbers of a vector, as the provider has sent them: of 32 bits in base64, else of 64. */
export type Vector = Float32Array | Float64Array;

/** The most numbers of a vector; the contract states it. */
export const mostDimensions = 4_096;

/** Bytes of a number in memory. */
const numberBytes = 8;

/** The texts of a request; none if it has tokens. */
export function textsIn({ input }: EmbeddingRequest): string[] {
  if (typeof input === 'string') return [input];
  return input.filter((one) => typeof one === 'string');
}

/** How many vectors a request wants, and how long they are at most. */
export function vectorsOf({ input, dimensions = mostDimensions }: EmbeddingRequest): {
  readonly count: number;
  readonly dimensions: number;
} {
  const isOne = typeof input === 'string' || typeof input[0] === 'number';
  return { count: isOne ? 1 : input.length, dimensions };
}

/** The most vectors of an answer that are read: Amazon's Titan takes one text, and says its vector twice. */
export function mostVectors(request: EmbeddingRequest): number {
  return vectorsOf(request).count + 1;
}

/** Bytes of the vectors of a request in memory, at most. */
export function vectorBytes(request: EmbeddingRequest): number {
  return mostVectors(request) * vectorsOf(request).dimensions * numberBytes;
}

/** How many tokens a request has that are not texts. */
export function tokensIn({ input }: EmbeddingRequest): number {
  if (typeof input === 'string') return 0;
  let count = 0;
  for (const one of input) if (typeof one !== 'string') count += typeof one === 'number' ? 1 : one.length;
  return count;
}

/** Why vectors are not those that were asked for, as a sentence; undefined if they are. */
export function mistakeIn(vectors: readonly Vector[], request: EmbeddingRequest): string | undefined {
  const { count } = vectorsOf(request);
  const { dimensions = vectors[0]?.length ?? 0 } = request;
  if (vectors.length !== count) return `The provider's answer has ${vectors.length} vectors for ${count} inputs.`;
  const other = vectors.find(({ length }) => length !== dimensions || length === 0);
  if (other === undefined) return undefined;
  return `The provider's answer has a vector of ${other.length} numbers in place of ${dimensions || 'some'}.`;
}

/** The 32-bit floats of a vector, least significant byte first, in base64. */
export function toBase64(vector: Vector): string {
  const floats = vector instanceof Float32Array ? vector : Float32Array.from(vector);
  return Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength).toString('base64');
}

/** @returns undefined for what is not the base64 of 32-bit floats */
export function fromBase64(text: string): Float32Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  // Node ignores what is not base64.
  if (bytes.length % 4 !== 0 || bytes.toString('base64') !== text) return undefined;
  return new Float32Array(new Uint8Array(bytes).buffer);
}

/** Whether all numbers are finite, also as 32-bit floats. */
export function areFinite(vector: Vector | readonly number[]): boolean {
  for (const number of vector) if (!Number.isFinite(Math.fround(number))) return false;
  return true;
}
