/** The wire formats of embeddings, as servers write their answers. */

/** Of a request for vectors. */
export interface MockEmbedding {
  readonly model: string;
  /** As JSON. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Without usage, formats that always have it have 0. */
  readonly usage: boolean;
}

type Write = (embedding: MockEmbedding) => unknown;

/** The number of input tokens of every answer. */
const tokens = 11;
const usualDimensions = 4;

/** Number `place` of the vector of an input, as a float of 32 bits. */
function mockNumber(input: number, place: number): number {
  return Math.fround(Math.sin((input + 1) * 7_919 + place));
}

/** The vector of an input. */
export function mockVector(input: number, dimensions = usualDimensions): number[] {
  return Array.from({ length: dimensions }, (_, place) => mockNumber(input, place));
}

function vectors(count: number, dimensions: unknown): number[][] {
  return Array.from({ length: count }, (_, input) => mockVector(input, dimensions as number | undefined));
}

const openai: Write = ({ model, body, usage }) => {
  const { input, encoding_format: format, dimensions } = body;
  const isOne = !Array.isArray(input) || typeof input[0] === 'number';
  const found = vectors(isOne ? 1 : input.length, dimensions);
  return {
    object: 'list',
    data: found.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: format === 'base64' ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector,
    })),
    model,
    ...(usage && { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  };
};

const mistral: Write = ({ model, body, usage }) => ({
  id: 'mock',
  object: 'list',
  model,
  data: vectors((body['input'] as string[]).length, body['output_dimension']).map((embedding, index) => ({
    object: 'embedding',
    embedding,
    index,
  })),
  usage: { prompt_tokens: usage ? tokens : 0, total_tokens: usage ? tokens : 0, completion_tokens: 0 },
});

const cohere: Write = ({ body, usage }) => ({
  id: 'mock',
  embeddings: { float: vectors((body['texts'] as string[]).length, body['output_dimension']) },
  texts: body['texts'],
  meta: { api_version: { version: '2' }, billed_units: { input_tokens: usage ? tokens : 0 } },
  response_type: 'embeddings_by_type',
});

const googleOne: Write = ({ body }) => ({
  embedding: { values: mockVector(0, body['outputDimensionality'] as number) },
});

const googleMany: Write = ({ body }) => {
  const requests = body['requests'] as readonly { outputDimensionality?: number }[];
  return { embeddings: vectors(requests.length, requests[0]?.outputDimensionality).map((values) => ({ values })) };
};

const bedrock: Write = ({ model, body, usage }) => {
  if (model.includes('cohere')) {
    return { id: 'mock', embeddings: { float: vectors((body['texts'] as string[]).length, body['output_dimension']) } };
  }
  const embedding = mockVector(0, body['dimensions'] as number);
  // Titan says each vector twice.
  return { embedding, embeddingsByType: { float: embedding }, inputTextTokenCount: usage ? tokens : 0 };
};

const formats: readonly (readonly [path: RegExp, Write])[] = [
  [/^\/mistral\/embeddings$/, mistral],
  [/\/embeddings(\?|$)/, openai],
  [/\/embed$/, cohere],
  [/:embedContent$/, googleOne],
  [/:batchEmbedContents$/, googleMany],
  [/\/model\/[^/]+\/invoke$/, bedrock],
];

/** The format of the vendor whose API has this path. */
export function findEmbeddings(path: string): Write | undefined {
  return formats.find(([pattern]) => pattern.test(path))?.[1];
}
