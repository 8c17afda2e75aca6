/** Milliseconds of CPU that this process spends on some work: other processes on the machine do not count. */
export function cpuMilliseconds(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** More than linear work on a megabyte takes minutes, linear work takes a fraction of this on any machine. */
export const linearWorkMs = 10_000;
