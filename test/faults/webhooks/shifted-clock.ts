/**
 * A preload (`node --import`) that sets a process's wall clock forward or back by `FAULTS_CLOCK_SHIFT_MS`. The monotonic
 * clock and timers are left alone, as they are when an operator's clock is wrong.
 */
const shift = Number(process.env['FAULTS_CLOCK_SHIFT_MS'] ?? '0');
const RealDate = Date;
const now = (): number => RealDate.now() + shift;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver) => (name === 'now' ? now : (Reflect.get(target, name, receiver) as unknown)),
});
