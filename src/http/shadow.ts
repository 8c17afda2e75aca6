import type { Logger } from 'pino';
import { callerGoneStatus } from './caller-gone.ts';
import type { Exchange } from './exchange.ts';
import type { Contract, Referee, SecondOpinion } from './referee.ts';

export interface ShadowDependencies {
  readonly document: Contract;
  readonly countDisagreement: (operation: string) => void;
  readonly log: Logger;
}

/** Maximum number of exchanges that wait for the referee. More are not checked. */
const maxWaiting = 100;

/** Passes answered live traffic to the contract referee; disagreements go to log and metrics. */
export function createShadow({ document, countDisagreement, log }: ShadowDependencies): (exchange: Exchange) => void {
  let referee: Promise<Referee> | undefined;
  let waiting = 0;
  return (exchange) => {
    if (exchange.operationId === undefined || waiting >= maxWaiting) return;
    if (exchange.answer.status === callerGoneStatus) return;
    waiting += 1;
    const operation = exchange.operationId;
    referee ??= import('./referee.ts').then(({ createReferee }) => createReferee(document));
    referee
      .then((judge) =>
        judge.judge({
          method: exchange.method,
          url: exchange.url,
          headers: exchange.requestHeaders,
          body: exchange.requestBody,
          answer: exchange.answer,
        }),
      )
      .then((opinion) => {
        for (const disagreement of disagreements(exchange, opinion)) {
          countDisagreement(operation);
          log.warn({ request_id: exchange.requestId, operation, disagreement }, 'the contract referee disagrees');
        }
      })
      .catch((error: unknown) => {
        log.error({ error, request_id: exchange.requestId }, 'the contract referee failed');
      })
      .finally(() => {
        waiting -= 1;
      });
  };
}

/** Problem types for mistakes in requests that the referee also finds. */
const contractProblems = new Set(['invalid-request', 'unsupported-media-type']);
/** Problem types that do not depend on the contract's rules for parameters and body. */
const unseenProblems = new Set([
  'unauthenticated',
  'insufficient-scope',
  'read-only',
  'rate-limited',
  'not-acceptable',
  'content-too-large',
  'malformed-body',
  'bad-request',
]);

/**
 * The difference between service and referee. The service can answer `invalid-request` for rules that the contract
 * cannot express, so a refusal by the service alone is not always a mistake.
 */
export function disagreements(exchange: Exchange, opinion: SecondOpinion): string[] {
  const found: string[] = [];
  const problem = exchange.problem?.type;
  // The referee does not know HEAD: it reports that the method is not allowed.
  if (exchange.method === 'HEAD') return found;
  if (!unseenProblems.has(problem ?? '')) {
    const refused = contractProblems.has(problem ?? '');
    if (refused && opinion.request.accepted) found.push('the service refused a request that the referee accepts');
    if (!refused && !opinion.request.accepted) found.push(`the referee refuses the request: ${opinion.request.reason}`);
  }
  if (opinion.answer !== undefined && !opinion.answer.accepted) {
    found.push(`the referee refuses the answer: ${opinion.answer.reason}`);
  }
  return found;
}
