import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startInvokeHarness, problemOf, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';

let harness: InvokeHarness;
let slug: string;
let foreign: string;
let promptId: string | undefined;
let keyId: string;
/** Ids by what is special about them. */
const made = new Map<string, string>();
beforeAll(async () => {
  harness = await startInvokeHarness();
  slug = await harness.createPrompt();
  await harness.service.call('PUT', `/api/v1/prompts/${slug}/labels/production`, { body: { version: 1 } });
  await harness.service.call('PUT', `/api/v1/prompts/${slug}`, { body: { selected_model: 'model-b' } });
  const { id, key } = (
    await harness.service.call('POST', '/api/v1/api-keys', { body: { name: 'Other', scopes: ['prompts:invoke'] } })
  ).body as { id: string; key: string };
  keyId = id;
  const invoke = async (name: string, ...call: Parameters<InvokeHarness['invoke']>): Promise<void> => {
    const answer = await harness.invoke(...call);
    made.set(name, answer.headers['x-invocation-id'] ?? '');
    promptId ??= answer.headers['x-prompt-id'];
  };
  await invoke('label', slug, { label: 'production' });
  await invoke('latest', slug, {});
  await invoke('key', slug, {}, {}, key);
  await invoke('spare', slug, { provider: 'spare' }, { 'X-Request-Id': 'Job_7.a' });
  await invoke('failed', slug, { model: 'mock-400' }, { 'X-Request-Id': 'Job_7.a' });
  await invoke('refused', slug, { version: 7 });
  await invoke('tagged', slug, {}, { 'X-Tags': 'team=checkout,env=prod' });
  foreign = await harness.createPrompt();
  await invoke('another', foreign);
  const fallbacks = [{ provider: 'spare' }];
  await invoke('saved', await harness.createPrompt({ selected_model: 'mock-500', fallbacks }));
});
afterAll(() => harness.close());

const path = '/api/v1/invocations';

/** The names of the invocations of a list, the newest first. */
async function listed(query: string): Promise<(string | undefined)[]> {
  const answer = await harness.service.call('GET', `${path}?${query}`);
  expect(answer.status).toBe(200);
  const names = new Map([...made].map(([name, id]) => [id, name]));
  return (answer.body.data as { id: string }[]).map(({ id }) => names.get(id));
}

const ofPrompt = ['tagged', 'refused', 'failed', 'spare', 'key', 'latest', 'label'];

describe('200', () => {
  it.each([
    ['', ['saved', 'another', ...ofPrompt]],
    ['prompt=SLUG', ofPrompt.filter((name) => name !== 'refused')],
    ['prompt=ID&version=1', ['label']],
    ['label=production', ['label']],
    ['author_id=KEY', ['key']],
    ['provider=spare', ['saved', 'spare']],
    ['model=mock-400', ['failed']],
    ['model=model-b&prompt=SLUG', ['tagged', 'key', 'latest']],
    ['status=failed', ['refused', 'failed']],
    ['status=succeeded&provider=spare', ['saved', 'spare']],
    ['status=canceled', []],
    ['problem=provider-failed', ['failed']],
    ['problem=version-not-found', ['refused']],
    ['tag=env%3Dprod', ['tagged']],
    ['tag=env%3Dtest', []],
    ['request_id=Job_7.a', ['failed', 'spare']],
    ['request_id=Job_7.a&status=failed&prompt=SLUG', ['failed']],
    ['request_id=job_7.a', []],
    ['until=2020-01-01', []],
    ['since=2020-01-01&provider=spare', ['saved', 'spare']],
    ['attempt_problem=provider-failed', ['saved', 'failed']],
    ['attempt_provider=spare', ['saved', 'spare']],
    ['attempt_provider=mock&attempt_problem=provider-failed', ['saved', 'failed']],
    ['attempt_provider=mock&attempt_problem=provider-failed&status=succeeded', ['saved']],
    ['attempt_provider=spare&attempt_problem=provider-failed', []],
    ['attempt_provider=spare&attempt_status=succeeded', ['saved', 'spare']],
    ['attempt_provider=mock&attempt_status=failed', ['saved', 'failed']],
    ['attempt_status=canceled', []],
    ['attempt_cost=unknown&attempt_provider=spare', ['saved', 'spare']],
    ['attempt_model=mock-500', ['saved']],
    ['cached=only', []],
    ['cached=exclude&provider=spare', ['saved', 'spare']],
    ['since=2999-01-01', []],
  ])('%s', async (query, names) => {
    const filled = query
      .replace('SLUG', slug)
      .replace('ID', promptId ?? '')
      .replace('KEY', keyId);
    expect(await listed(filled)).toEqual(names);
  });

  it('continues with `next`', async () => {
    const first = await harness.service.call('GET', `${path}?prompt=${slug}&limit=4`);
    const { total, next } = first.body.pagination as { total: number; next: string };
    expect(total).toBe(ofPrompt.length - 1);
    const after = await listed(`prompt=${slug}&limit=4&after=${next}`);
    expect(after).toEqual(['latest', 'label']);
  });
});

it('403: needs the scope `invocations:read`', async () => {
  const may = await harness.service.createKey('invocations:read');
  expect((await harness.service.call('GET', path, { key: may })).status).toBe(200);
  const mayNot = await harness.service.createKey('prompts:read', 'prompts:invoke', 'metrics:read');
  expect(problemOf(await harness.service.call('GET', path, { key: mayNot }))).toBe('insufficient-scope');
});

it('shows a key with limits the invocations of its prompts, with its tags', async () => {
  const scopes = ['invocations:read', 'prompts:invoke'];
  const limits = { prompts: [promptId], tags: { team: 'search' } };
  const created = await harness.service.call('POST', '/api/v1/api-keys', { body: { name: 'Narrow', scopes, limits } });
  const { key } = created.body as { key: string };
  const invoked = await harness.invoke(slug, {}, { 'X-Tags': 'team=checkout,env=dev' }, key);
  const { body } = await harness.service.call('GET', `${path}?limit=100`, { key });
  const found = body.data as { id: string; prompt_id: string; tags: unknown }[];
  expect(new Set(found.map(({ prompt_id }) => prompt_id))).toEqual(new Set([promptId]));
  expect(found[0]).toMatchObject({ id: invoked.headers['x-invocation-id'], tags: { team: 'search', env: 'dev' } });
  const narrowed = await harness.service.call('GET', `${path}?prompt=${promptId}&limit=1`, { key });
  expect(narrowed.body.data).toEqual([found[0]]);
  const hidden = await harness.service.call('GET', `${path}?prompt=${foreign}`, { key });
  expect(hidden.body.data).toEqual([]);
  const other = await harness.service.call('GET', `${path}/${made.get('another')}`, { key });
  expect(problemOf(other)).toBe('invocation-not-found');
});
