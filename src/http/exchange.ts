import type { Request } from 'express';
import type { OperationId } from '../../generated/operations.ts';
import type { ProblemError } from '../base/errors/problem-error.ts';
import type { StreamEnd } from './answer-stream.ts';
import type { AuthenticatedPrincipal, RequestNotes } from './operation.ts';
import type { RawAnswer } from './problem-response.ts';

/** One finished request, for log, metrics and the contract referee. */
export interface Exchange {
  readonly operationId: OperationId | undefined;
  readonly requestId: string;
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  /** The client's address. It is that of a proxy unless that is trusted. */
  readonly address: string | undefined;
  readonly requestHeaders: Request['headers'];
  /** The parsed body; `undefined` if there was none or it was not read. */
  readonly requestBody: unknown;
  /** As it was sent. The body of a streamed answer is empty, because it is not kept. */
  readonly answer: RawAnswer;
  readonly stream?: StreamEnd | undefined;
  readonly principal: AuthenticatedPrincipal | undefined;
  readonly milliseconds: number;
  /** The problem of a refused or failed request. */
  readonly problem: ProblemError | undefined;
  /** The error that was thrown, unless it was expected. */
  readonly error: unknown;
  readonly notes: RequestNotes;
}
