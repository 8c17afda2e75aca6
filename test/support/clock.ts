import { systemClock, type Clock } from '../../src/runtime/clock.ts';

/** A clock whose wall time is so many milliseconds ahead. */
export function clockAhead(milliseconds: number): Clock {
  return { ...systemClock, now: () => new Date(Date.now() + milliseconds) };
}

/** The wall clock of this process (`Date.now`), which a test can set forward and back as an operator or NTP does. */
export interface SteppableClock {
  /** Steps the clock by so many milliseconds; `performance.now` goes on as before. */
  step(milliseconds: number): void;
  restore(): void;
}

export function createSteppableClock(): SteppableClock {
  const { now } = Date;
  let offset = 0;
  Date.now = () => now() + offset;
  return {
    step(milliseconds) {
      offset += milliseconds;
    },
    restore() {
      offset = 0;
      Date.now = now;
    },
  };
}
