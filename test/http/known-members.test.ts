import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const prompt = { name: 'Greeter', messages: [{ role: 'user', content: 'Hello' }] };

async function errorsOf(path: string, body?: unknown): Promise<unknown> {
  const answer = await service.call(body === undefined ? 'GET' : 'POST', path, body === undefined ? {} : { body });
  expect(answer.status).toBe(400);
  return (answer.body as { errors: unknown }).errors;
}

describe('an unknown member names the known one that may be meant', () => {
  it.each<[string, string, object, string | undefined]>([
    ['a member with more words', '/api/v1/prompts', { model: 'gpt-5' }, 'selected_model'],
    ['a member with more words', '/api/v1/prompts', { provider: 'echo' }, 'selected_provider'],
    ['another style', '/api/v1/prompts', { responseFormat: {} }, 'response_format'],
    ['a letter too few', '/api/v1/prompts', { variable: {} }, 'variables'],
    ['a member of a member', '/api/v1/prompts', { temperature: 1 }, 'parameters.temperature'],
    ['a member of a member with more words', '/api/v1/prompts', { max_tokens: 9 }, 'parameters.max_output_tokens'],
    ['a member with more words', '/api/v1/prompts/x/invoke', { prompt_version: 1 }, 'version'],
    ['nothing similar', '/api/v1/prompts', { colour: 'red' }, undefined],
    ['a name of JavaScript', '/api/v1/prompts', { constructor: 1 }, undefined],
  ])('%s: %s %j', async (_, path, members, meant) => {
    const [name = ''] = Object.keys(members);
    const body = path.endsWith('invoke') ? members : { ...prompt, ...members };
    const detail = meant === undefined ? 'is unknown' : `is unknown; did you mean ${meant}?`;
    expect(await errorsOf(path, body)).toEqual([{ detail, pointer: `#/${name}` }]);
  });

  it('inside of members and lists, and of the object around', async () => {
    const body = {
      ...prompt,
      messages: [{ role: 'user', content: 'Hello', contents: 'x' }],
      parameters: { maxTokens: 5, response_format: {} },
      variables: { name: { requierd: true } },
    };
    expect(await errorsOf('/api/v1/prompts', body)).toEqual(
      expect.arrayContaining([
        { detail: 'is unknown; did you mean content?', pointer: '#/messages/0/contents' },
        { detail: 'is unknown; did you mean max_output_tokens?', pointer: '#/parameters/maxTokens' },
        {
          detail: 'is unknown; did you mean response_format outside of parameters?',
          pointer: '#/parameters/response_format',
        },
        { detail: 'is unknown; did you mean required?', pointer: '#/variables/name/requierd' },
      ]),
    );
  });

  it('also when something else is wrong, in the body and in the query', async () => {
    expect(await errorsOf('/api/v1/prompts', { model: 'x', messages: 5 })).toEqual(
      expect.arrayContaining([
        { detail: 'is required', pointer: '#/name' },
        { detail: 'is unknown; did you mean selected_model?', pointer: '#/model' },
        { detail: 'must be array', pointer: '#/messages' },
      ]),
    );
    expect(await errorsOf('/v1/orders?limt=5&limit=x&status=closed&location=a&limit=3')).toEqual([
      { detail: 'is unknown; did you mean limit?', parameter: 'limt' },
      { detail: 'must be an integer', parameter: 'limit' },
      { detail: 'is unknown; did you mean location_id?', parameter: 'location' },
      { detail: 'must not be repeated', parameter: 'limit' },
      { detail: expect.stringContaining('must be one of "open"'), parameter: 'status' },
    ]);
  });
});
