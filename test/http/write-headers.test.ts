/** Tests `If-Match` and `Idempotency-Key` on every operation: each operation accepts or refuses them. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operationTable, type OperationId } from '../../generated/operations.ts';
import { callEveryOperation, environmentOfEveryOperation, type Call } from '../support/every-operation.ts';
import { problem, problemIn } from '../support/per-operation.ts';
import { startTestService, type Answer, type TestService } from '../support/service.ts';

/** Operations that change or delete the resource in their path. */
const changing: readonly OperationId[] = [
  'updatePrompt',
  'deletePrompt',
  'restorePromptVersion',
  'setLabel',
  'deleteLabel',
  'setCanary',
  'deleteCanary',
  'promoteCanary',
  'setGate',
  'deleteGate',
  'updateLocation',
  'updateCategory',
  'updateProduct',
  'completeOrder',
  'cancelOrder',
  'updateIntegration',
  'deleteIntegration',
  'pauseIntegration',
  'enableIntegration',
  'beginSecretRotation',
  'finishSecretRotation',
  'cancelSecretRotation',
  'revokeApiKey',
  'updateApiKey',
  'updatePerson',
  'setPrice',
  'deletePrice',
  'setBudget',
  'deleteBudget',
  'setDataset',
  'deleteDataset',
  'addDatasetCases',
];
/** Operations that create something, or can cost money. */
const creating: readonly OperationId[] = [
  'createPrompt',
  'restorePromptVersion',
  'invokePrompt',
  'createChatCompletion',
  'createResponse',
  'createMessage',
  'createTestRun',
  'createEvaluation',
  'createGateEvaluation',
  'testProvider',
  'createLocation',
  'createCategory',
  'createProduct',
  'createOrder',
  'createIntegration',
  'sendTestEvent',
  'createReplay',
  'resendDelivery',
  'createInvocationFeedback',
];
/** Operations that have no effect when they are repeated. */
const repeatable: readonly OperationId[] = [
  'cancelEvaluation',
  'completeOrder',
  'cancelOrder',
  'closeFiscalDay',
  'pauseIntegration',
  'enableIntegration',
  'finishSecretRotation',
  'cancelSecretRotation',
  'revokeApiKey',
];
/** Creates a resource under an id that the caller chooses, so that it needs neither header. */
const withChosenId: readonly OperationId[] = ['closeFiscalDay'];
/** Creates a resource with a secret, and cannot show the secret again; or answers with more than can be kept. */
const unrepeatable: readonly OperationId[] = ['createApiKey', 'createEmbedding', 'sendMcpMessage'];
/** A repetition finds what the first request stored, and changes nothing. */
const comparing: readonly OperationId[] = ['importPrompts', 'addDatasetCases'];
/** Erases or replaces what has no ETag, or ends what also ends by itself. */
const withoutTag: readonly OperationId[] = [
  'deleteInvocationContent',
  'cancelEvaluation',
  'setMark',
  'signOutPerson',
  'revokePersonKeys',
];
/** Changes nothing. */
const withoutEffect: readonly OperationId[] = [
  'renderPrompt',
  'calculateOrder',
  'previewIntegrationFilter',
  'countMessageTokens',
];
/** Sets or removes the cookie of a browser: no harm is done when they are repeated. */
const withCookie: readonly OperationId[] = ['createSession', 'deleteSession'];

const operationIds = Object.keys(operationTable) as OperationId[];

let service: TestService;
let calls: Record<OperationId, Call>;
beforeAll(async () => {
  service = await startTestService({ environment: environmentOfEveryOperation });
  calls = await callEveryOperation(service);
});
afterAll(() => service.close());

const send = (id: OperationId, header: string, value: string, isTaken: boolean): Promise<Answer> => {
  const { method, path, ...options } = calls[id];
  const differs = isTaken ? {} : { differs: 'header-not-taken' };
  const { 'Content-Type': mediaType } = options.headers ?? {};
  const headers = { ...(mediaType !== undefined && { 'Content-Type': mediaType }), [header]: value };
  return service.call(method, path, { ...options, ...differs, headers });
};

function expectRefusal({ status, body }: Answer, header: string): void {
  expect([status, problemIn(body)]).toEqual([400, problem('invalid-request')]);
  if (body.error === undefined) expect(body.errors).toEqual([{ detail: 'is not accepted by this operation', header }]);
  else expect(body.error.param ?? body.error.message).toContain(header);
}

it('lists every operation that is not a read', () => {
  const writing = operationIds.filter((id) => operationTable[id].method !== 'GET').sort();
  expect(
    [
      ...new Set([
        ...[...changing, ...creating, ...withChosenId, ...unrepeatable],
        ...[...withCookie, ...withoutTag, ...withoutEffect, ...comparing],
      ]),
    ].sort(),
  ).toEqual(writing);
});

describe('If-Match', () => {
  it.each(operationIds.filter((id) => !changing.includes(id)))('is refused by %s', async (id) => {
    expectRefusal(await send(id, 'If-Match', '*', false), 'If-Match');
  });

  const otherTag = '"00000000-0000-4000-8000-000000000000.1"';

  it.each(changing)('is accepted by %s', async (id) => {
    const other = await send(id, 'If-Match', otherTag, true);
    expect([other.status, other.body.type]).toEqual([412, problem('precondition-failed')]);
    // The resource at the beginning of the path: a prompt, a label of a prompt, a location …
    const [resource = ''] =
      /^(\/api)?\/v1\/(?:prices\/[^/]+|[^/]+)\/[^/]+(\/labels\/[^/]+(?:\/gate$)?)?/.exec(calls[id].path) ?? [];
    const { headers } = await service.call('GET', resource);
    expect((await send(id, 'If-Match', headers['etag'] ?? '', true)).status).toBeLessThan(300);
  });

  it.each(repeatable.filter((id) => changing.includes(id)))('is ignored when %s is repeated', async (id) => {
    const { method, path, ...options } = calls[id];
    const first = await service.call(method, path, options);
    const again = await send(id, 'If-Match', otherTag, true);
    expect([again.status, again.body]).toEqual([200, first.body]);
  });
});

describe('Idempotency-Key', () => {
  it.each(operationIds.filter((id) => !creating.includes(id)))('is refused by %s', async (id) => {
    expectRefusal(await send(id, 'Idempotency-Key', 'once', false), 'Idempotency-Key');
  });

  it.each(creating)('is accepted by %s', async (id) => {
    const first = await send(id, 'Idempotency-Key', 'once', true);
    expect(first.status).toBeLessThan(300);
    const second = await send(id, 'Idempotency-Key', 'once', true);
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect([second.status, second.text]).toEqual([first.status, first.text]);
  });
});
