/** Milliseconds of CPU that this process uses for some work. Other processes of the machine do not count. */
export function cpuMilliseconds(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Work on a megabyte that is not linear takes minutes. Linear work takes a fraction of this limit on any machine. */
export const linearWorkMs = 10_000;
