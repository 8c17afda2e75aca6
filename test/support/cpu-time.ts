import { readFileSync } from 'node:fs';

/** Milliseconds of CPU that this process uses for some work. Other processes of the machine do not count. */
export function cpuMilliseconds(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Work on a megabyte that is not linear takes minutes. Linear work takes a fraction of this limit on any machine. */
export const linearWorkMs = 10_000;

/** The CPU time of a process and of its children that have ended, in seconds (Linux; otherwise 0). */
export function cpuSecondsOf(pid: number | string): { readonly own: number; readonly children: number } {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15).map(Number);
    return { own: (user + system) / 100, children: (childUser + childSystem) / 100 };
  } catch {
    return { own: 0, children: 0 };
  }
}
