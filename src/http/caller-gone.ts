/** The caller closed the connection before the answer. Nothing has failed, and no answer can be received. */
export class CallerGoneError extends Error {
  constructor() {
    super('The caller hung up.');
    this.name = 'CallerGoneError';
  }
}

/** Status in log and metrics if the caller did not wait for the answer, as in nginx. It is never sent. */
export const callerGoneStatus = 499;
