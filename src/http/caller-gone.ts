import type { ServerResponse } from 'node:http';

/** The caller closed the connection before the answer. Nothing has failed, and no answer can be received. */
export class CallerGoneError extends Error {
  constructor() {
    super('The caller hung up.');
    this.name = 'CallerGoneError';
  }
}

/** Status in log and metrics if the caller did not wait for the answer, as in nginx. It is never sent. */
export const callerGoneStatus = 499;

/**
 * A signal that is aborted with a `CallerGoneError` when the caller closes the connection before the answer's end.
 *
 * @param controller aborts it for other reasons, too
 */
export function hangUpSignal(response: ServerResponse, controller = new AbortController()): AbortSignal {
  const abort = (): void => {
    if (!response.writableEnded) controller.abort(new CallerGoneError());
  };
  if (response.destroyed) abort();
  else response.once('close', abort);
  return controller.signal;
}
