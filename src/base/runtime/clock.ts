/** Source of time, passed to all code that needs it. */
export interface Clock {
  /** Wall-clock time, for times that are stored or shown. Other processes can have a different wall-clock time. */
  readonly now: () => Date;
  /** Monotonic time in milliseconds, from an arbitrary start. For durations, leases and time-outs. */
  readonly monotonic: () => number;
}

export const systemClock: Clock = { now: () => new Date(Date.now()), monotonic: () => performance.now() };
