import type { Logger } from 'pino';
import { traceparentOf } from '../http/request-context.ts';
import type { StreamEnd } from '../http/answer-stream.ts';
import { saidByProvider } from '../base/errors/problem-error.ts';
import type { Exchange } from '../http/exchange.ts';
import { scrub } from '../base/runtime/scrub.ts';
import type { Metrics } from './metrics.ts';

/** Operations that supervisors of the process call every few seconds. */
const probes: ReadonlySet<string> = new Set(['getLiveness', 'getReadiness']);

/**
 * Records one observation for each answer, counts it in the statistics if it is traffic, and writes one log line except
 * for successful health probes.
 */
export function recordExchange(
  exchange: Exchange,
  log: Logger,
  metrics: Metrics,
  statistics: { requested(status: number, isCut: boolean): void },
): void {
  const { operationId = 'none', answer, stream, milliseconds, error } = exchange;
  const { status } = answer;
  metrics.observeRequest(operationId, status, milliseconds / 1000);
  if (stream !== undefined) metrics.observeStream(operationId, stream);
  const type = problemTypeOf(exchange);
  if (type !== undefined) metrics.countProblem(type);
  const isProbe = probes.has(operationId);
  const isTraffic = exchange.operationId !== undefined && !isProbe && !isReadOfDashboard(exchange);
  if (isTraffic) statistics.requested(status, isFailed(stream));
  if (isProbe && status < 400) return;
  const fields = fieldsOf(exchange);
  if (stream?.outcome === 'failed') log.error({ ...fields, error }, 'the answer was cut');
  else if (status === 500 || (stream?.outcome === 'error' && exchange.problem === undefined))
    log.error({ ...fields, error }, 'request failed');
  else if (error !== undefined) log.warn({ ...fields, error }, 'request');
  else if (status > 500 || isFailed(stream) || (exchange.notes.told?.status ?? 0) >= 500) log.warn(fields, 'request');
  else log.info(fields, 'request');
}

/** An open page reads every few seconds. Counted, it would hide the rate of errors of everybody else. */
function isReadOfDashboard({ method, principal }: Exchange): boolean {
  return method === 'GET' && principal?.sessionId !== undefined;
}

/** The problem that the caller got. */
function problemTypeOf({ problem: answered, notes: { told }, error, stream }: Exchange): string | undefined {
  const problem = answered ?? told;
  if (problem !== undefined) return problem.type;
  return error === undefined || stream?.outcome === 'failed' ? undefined : 'internal-error';
}

function isFailed(stream: StreamEnd | undefined): boolean {
  return stream?.outcome === 'failed' || stream?.outcome === 'error';
}

function fieldsOf(exchange: Exchange): Record<string, unknown> {
  const { operationId = 'none', answer, stream, milliseconds, requestId, principal, method, notes } = exchange;
  const { address, problem = notes.told } = exchange;
  const fields: Record<string, unknown> = {
    request_id: requestId,
    operation: operationId,
    method,
    status: answer.status,
    ms: Math.round(milliseconds * 10) / 10,
  };
  if (principal !== undefined) fields[`${principal.kind}_id`] = principal.id;
  if (address !== undefined) fields['address'] = address;
  const traceparent = traceparentOf(exchange.requestHeaders);
  if (traceparent !== undefined) fields['traceparent'] = traceparent;
  // Without an operation, only the path shows the request. With one, it shows which resource was not found.
  if (answer.status === 404 || operationId === 'none') fields['path'] = plainPath(exchange.url);
  const type = problemTypeOf(exchange);
  if (type !== undefined) fields['problem'] = type;
  if (stream !== undefined) {
    fields['bytes'] = stream.bytes;
    fields['outcome'] = stream.outcome;
    if (stream.firstMs !== undefined) fields['first_event_ms'] = Math.round(stream.firstMs * 10) / 10;
  }
  if (notes.performed !== undefined) fields['performed'] = notes.performed;
  if (notes.invocation !== undefined) fields['invocation_id'] = notes.invocation;
  if (notes.order !== undefined) fields['order_id'] = notes.order;
  if (notes.prompt !== undefined) fields['prompt'] = notes.prompt;
  if (notes.version !== undefined) fields['version'] = notes.version;
  if (notes.label !== undefined) fields['label'] = notes.label;
  const { provider, model } = problem?.extensions.provider === undefined ? notes : problem.extensions;
  if (provider !== undefined) fields['provider'] = provider;
  // Callers choose the names of models.
  if (model !== undefined) fields['model'] = scrub(model);
  return { ...fields, ...saidByProvider(problem) };
}

const longestPath = 200;

/**
 * The path of a request's URL for the log: it ends before anything that could begin a query, percent-encoded or not,
 * before control characters, and at 200 characters. Text that looks like credentials is masked.
 */
function plainPath(url: string): string {
  const path = url.replace(/^\w+:\/\/[^/?#]*/, '');
  const [plain = ''] = /^(?:[\w\-.~/:@]|%(?![01]|2[36]|3[bdf]|7f)[\da-f]{2})*/i.exec(path) ?? [];
  return scrub(plain.slice(0, longestPath));
}
