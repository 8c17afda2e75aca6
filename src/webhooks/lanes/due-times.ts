/** Stores when integrations will have due deliveries, so that no search is needed. */
export interface DueTimes {
  add(integrationId: string, at: Date): void;
  /** Removes and returns those whose time has come. */
  takeDue(now: Date): ReadonlySet<string>;
}

/** The most times that are remembered. Polls find the rest. */
const maxRemembered = 100_000;

/** Times are rounded up to the second. */
export function createDueTimes(): DueTimes {
  const bySecond = new Map<number, Set<string>>();
  let size = 0;
  return {
    add(integrationId, at) {
      if (size >= maxRemembered) return;
      const second = Math.ceil(at.getTime() / 1_000);
      let ids = bySecond.get(second);
      if (ids === undefined) bySecond.set(second, (ids = new Set()));
      size -= ids.size;
      size += ids.add(integrationId).size;
    },
    takeDue(now) {
      const due = new Set<string>();
      for (const [second, ids] of bySecond) {
        if (second * 1_000 > now.getTime()) continue;
        for (const id of ids) due.add(id);
        size -= ids.size;
        bySecond.delete(second);
      }
      return due;
    },
  };
}
