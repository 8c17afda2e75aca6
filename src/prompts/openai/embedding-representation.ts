import { Readable } from 'node:stream';
import type { operations } from '../../../generated/types.ts';
import type { AnswerStream } from '../../http/answer-stream.ts';
import type { Turns } from '../../base/runtime/turns.ts';
import { toBase64, type Vector, type VectorFormat } from '../../models/vectors.ts';
import type { Generated } from '../generation/generator.ts';

export type EmbeddingList = operations['createEmbedding']['responses'][200]['content']['application/json'];

/** The most numbers of an answer that is written as a whole. */
const mostAtOnce = 16_384;
/** The most bytes of a vector as JSON: it is written as one piece, and the next one waits. */
const pieceBytes = 256 * 1024;

/** The answer as a whole, or as a stream that is written while the caller takes it if it has many numbers. */
export async function embeddingAnswer(
  { provider, model, result: { vectors = [], usage } }: Pick<Generated, 'provider' | 'model' | 'result'>,
  format: VectorFormat = 'float',
  turns: Turns,
): Promise<{ readonly body: EmbeddingList } | { readonly stream: AnswerStream<'application/json'> }> {
  const { inputTokens: tokens } = usage;
  const head: Omit<EmbeddingList, 'data'> = {
    object: 'list',
    model: `${provider}/${model}`,
    ...(tokens !== undefined && { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  };
  const itemOf = (vector: Vector, index: number): EmbeddingList['data'][number] => ({
    object: 'embedding',
    index,
    embedding: format === 'base64' ? toBase64(vector) : Array.from(vector),
  });
  const count = vectors.reduce((sum, { length }) => sum + length, 0);
  if (count <= mostAtOnce) return { body: { ...head, data: vectors.map(itemOf) } };
  const content = Readable.from(
    (async function* (): AsyncGenerator<string> {
      yield `${JSON.stringify(head).slice(0, -1)},"data":[`;
      for (const [index, vector] of vectors.entries()) {
        await turns();
        yield `${index === 0 ? '' : ','}${JSON.stringify(itemOf(vector, index))}`;
      }
      yield ']}';
    })(),
    { objectMode: false },
  );
  return { stream: { mediaType: 'application/json', content, memory: pieceBytes } };
}
