import { systemClock, type Clock } from '../../src/runtime/clock.ts';

/** A clock whose wall time is so many milliseconds ahead. */
export function clockAhead(milliseconds: number): Clock {
  return { ...systemClock, now: () => new Date(Date.now() + milliseconds) };
}

/** A clock that a test can set forward, as if time had passed. */
export interface MovableClock extends Clock {
  /** Lets so many milliseconds pass at once. */
  advance(milliseconds: number): void;
  /** Lets no time pass by itself, however slow the machine is. */
  hold(): void;
  release(): void;
}

export function createMovableClock(): MovableClock {
  let ahead = 0;
  let heldAt: number | undefined;
  /** Since it is held, or 0. */
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
