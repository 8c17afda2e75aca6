import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe('getLiveness', () => {
  it('200 without a key', async () => {
    expect((await service.call('GET', '/health/live', { key: null })).body).toEqual({ status: 'ok' });
  });
  it('400 for unknown parameters, 406 when JSON is not acceptable', async () => {
    expect((await service.call('GET', '/health/live?x=1', { key: null })).status).toBe(400);
    expect((await service.call('GET', '/health/live', { headers: { accept: 'text/html' } })).status).toBe(406);
  });
});

describe('getReadiness', () => {
  it('200 with the state of both dependencies', async () => {
    const { body } = await service.call('GET', '/health/ready', { key: null });
    expect(body).toEqual({ status: 'ok', checks: { database: 'ok', storage: 'ok' } });
  });
});

describe('getOpenApi', () => {
  it('200 with the contract itself', async () => {
    const { body } = await service.call('GET', '/openapi.json', { key: null });
    expect(body.openapi).toMatch(/^3\.1/);
    expect(Object.keys(body.paths)).toContain('/api/v1/prompts');
  });
});

describe('getMetrics', () => {
  it('200 in the Prometheus text format', async () => {
    await service.call('GET', '/api/v1/prompts');
    const answer = await service.call('GET', '/metrics');
    expect(answer.headers['content-type']).toContain('text/plain');
    expect(answer.text).toContain('http_request_duration_seconds_count{operation="listPrompts",status="200"}');
    expect(answer.text).toContain('process_cpu_seconds_total');
  });
  it('401 without a key, 403 without the scope', async () => {
    expect((await service.call('GET', '/metrics', { key: null })).status).toBe(401);
    const key = await service.createKey('prompts:read');
    expect((await service.call('GET', '/metrics', { key })).status).toBe(403);
  });
});
