import { systemClock, type Clock } from '../../src/base/runtime/clock.ts';

/** A clock whose wall time is `ahead` milliseconds ahead. */
export function clockAhead(milliseconds: number): Clock {
  return { ...systemClock, now: () => new Date(Date.now() + milliseconds) };
}

/** A clock that a test can set forward, as if time had passed. */
export interface MovableClock extends Clock {
  /** Sets the clock forward by this number of milliseconds. */
  advance(milliseconds: number): void;
  /** Stops the clock, so that time does not depend on the speed of the machine. */
  hold(): void;
  release(): void;
}

export function createMovableClock(): MovableClock {
  let ahead = 0;
  let heldAt: number | undefined;
  /** The time when it was stopped, or 0. */
  const behind = (): number => (heldAt === undefined ? 0 : systemClock.monotonic() - heldAt);
  return {
    now: () => new Date(Date.now() + ahead - behind()),
    monotonic: () => (heldAt ?? systemClock.monotonic()) + ahead,
    advance(milliseconds) {
      ahead += milliseconds;
    },
    hold() {
      heldAt ??= systemClock.monotonic();
    },
    release() {
      ahead -= behind();
      heldAt = undefined;
    },
  };
}

/** The wall clock of this process (`Date.now`). A test can set it forward and back, as an operator or NTP does. */
export interface SteppableClock {
  /** Sets the wall clock by this number of milliseconds. `performance.now` does not change. */
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
