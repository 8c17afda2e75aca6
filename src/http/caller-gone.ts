/** The caller hung up before there was an answer: nobody can be told, and nothing has failed. */
export class CallerGoneError extends Error {
  constructor() {
    super('The caller hung up.');
    this.name = 'CallerGoneError';
  }
}

/** What log and metrics know an exchange by whose caller did not wait. It is never sent; nginx made it usual. */
export const callerGoneStatus = 499;
