/** Where time comes from. Everything that needs it takes a clock. */
export interface Clock {
  /** Wall-clock time, for moments that are stored or shown. Other processes may see another one. */
  readonly now: () => Date;
  /** Milliseconds since some moment, never going back. For durations, leases and time-outs. */
  readonly monotonic: () => number;
}

export const systemClock: Clock = { now: () => new Date(Date.now()), monotonic: () => performance.now() };
