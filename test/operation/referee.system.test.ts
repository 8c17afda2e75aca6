import { describe, expect, it } from '@jest/globals';
import { createLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { createShadow } from '../../src/http/shadow.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import document from '../../generated/openapi.json' with { type: 'json' };
import { send } from '../support/send.ts';
import { createPrompt, setUpProcesses } from './operation-harness.ts';
import { until } from '../support/until.ts';

const processes = setUpProcesses();
const disagreements = /^contract_referee_disagreements_total\{.*\} [1-9]/;

describe('CONTRACT_REFEREE=on', () => {
  it('finds nothing in ordinary requests', async () => {
    const service = await processes.start({ CONTRACT_REFEREE: 'on' });
    const prompt = await createPrompt(service);
    const statuses = [
      await send(service, 'POST', `${prompt}/invoke`, { variables: { name: 'Ada' } }),
      await send(service, 'POST', `${prompt}/invoke`, { unknown: true }),
      await send(service, 'PUT', prompt, { description: null }),
      await send(service, 'POST', `${prompt}/test`, { providers: [{ provider: 'echo' }] }),
      await send(service, 'GET', '/api/v1/prompts?limit=5&q=a,b'),
      await send(service, 'GET', '/api/v1/prompts?limit=0'),
      await send(service, 'POST', '/api/v1/prompts', '{'),
      await send(service, 'GET', '/api/v1/prompts', undefined, { authorization: 'Bearer wrong' }),
      await send(service, 'DELETE', prompt),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 400, 200, 201, 200, 400, 400, 401, 200]);
    const metrics = await (await send(service, 'GET', '/metrics')).text();
    await service.stop();
    expect(metrics.split('\n').filter((line) => disagreements.test(line))).toEqual([]);
    expect(service.log.filter((line) => line.includes('contract referee'))).toEqual([]);
  });

  it('logs and counts a disagreement', async () => {
    const lines: string[] = [];
    const metrics = createMetrics();
    const log = createLogger('info', { write: (line: string) => void lines.push(line) });
    const shadow = createShadow({
      document,
      countDisagreement: (operation) => {
        metrics.countRefereeDisagreement(operation);
      },
      log,
    });
    const exchange: Exchange = {
      operationId: 'createPrompt',
      requestId: 'judged',
      method: 'POST',
      url: '/api/v1/prompts',
      address: undefined,
      requestHeaders: { host: 'localhost', 'content-type': 'application/json' },
      // The contract refuses a body without messages. The test claims that the service accepted it.
      requestBody: { name: 'Accepted by mistake' },
      answer: { status: 201, headers: { 'content-type': 'application/json; charset=utf-8' }, body: '{"id":7}' },
      principal: undefined,
      milliseconds: 1,
      problem: undefined,
      error: undefined,
      notes: {},
    };
    shadow(exchange);
    await until(() => lines.length >= 2);
    for (const line of lines) {
      expect(JSON.parse(line)).toMatchObject({ level: 'warn', request_id: 'judged', operation: 'createPrompt' });
    }
    expect(await metrics.render()).toMatch(/^contract_referee_disagreements_total\{operation="createPrompt"\} 2$/m);
  });
});
