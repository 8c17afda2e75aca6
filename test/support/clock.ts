/** The wall clock of this process (`Date.now`), which a test can set forward and back as an operator or NTP does. */
export interface SteppableClock {
  /** Steps the clock by so many milliseconds; `performance.now` goes on as before. */
  step(milliseconds: number): void;
  restore(): void;
}

/** To be made before the service: some parts of it keep `Date.now` itself. */
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
