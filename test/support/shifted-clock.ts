/**
 * A preload (`node --import`) that shifts the wall clock of a process by `CLOCK_SHIFT_MS`. The monotonic clock and timers do
 * not change, as on a machine with a wrong clock.
 */
const shift = Number(process.env['CLOCK_SHIFT_MS'] ?? '0');
const RealDate = Date;
const now = (): number => RealDate.now() + shift;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver) => (name === 'now' ? now : (Reflect.get(target, name, receiver) as unknown)),
});
