import type { Logger } from 'pino';
import type { Exchange } from '../http/pipeline.ts';
import type { Metrics } from './metrics.ts';

/** One log line and one observation for each answer. */
export function recordExchange(exchange: Exchange, log: Logger, metrics: Metrics): void {
  const { operationId = 'none', answer, milliseconds, requestId, keyId, method, error } = exchange;
  metrics.observeRequest(operationId, answer.status, milliseconds / 1000);
  const fields = {
    request_id: requestId,
    operation: operationId,
    method,
    status: answer.status,
    ms: Math.round(milliseconds * 10) / 10,
    ...(keyId === undefined ? {} : { key_id: keyId }),
  };
  if (error === undefined) log.info(fields, 'request');
  else if (answer.status === 500) log.error({ ...fields, error }, 'request failed');
  else log.warn({ ...fields, error }, 'request');
}
