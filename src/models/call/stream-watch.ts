import type { Clock } from '../../base/runtime/clock.ts';

/** How long a provider may send nothing while its stream is read, in milliseconds. */
const silenceMs = 60_000;
/** How long a stream may last from its first content, in milliseconds. */
const totalMs = 15 * 60_000;

/** Ends streams that hang or never end, from their first content on. Before that, the deadline of the call applies. */
export interface StreamWatch {
  /** @param expire is called once, if a limit is passed. */
  begin(expire: (limit: 'silence' | 'total') => void): WatchedStream;
  /** Ends the streams whose time is over. Runs every second while there are streams. */
  check(): void;
}

export interface WatchedStream {
  /** The stream waits for an event of the provider from now on. */
  wait(): void;
  /** The event is there. A caller that reads slowly is no silence of the provider. */
  rest(): void;
  end(): void;
}

const checkEveryMs = 1_000;

/** One timer for all streams, because each event would restart a timer of its own. */
export function createStreamWatch({ clock }: { readonly clock: Clock }): StreamWatch {
  interface Entry {
    readonly beganAt: number;
    waitingSince: number | undefined;
    readonly expire: (limit: 'silence' | 'total') => void;
  }
  const entries = new Set<Entry>();
  let timer: NodeJS.Timeout | undefined;

  const check = (): void => {
    const now = clock.monotonic();
    for (const entry of entries) {
      const isTooLong = now - entry.beganAt >= totalMs;
      const isSilent = entry.waitingSince !== undefined && now - entry.waitingSince >= silenceMs;
      if (!isTooLong && !isSilent) continue;
      remove(entry);
      entry.expire(isTooLong ? 'total' : 'silence');
    }
  };
  const remove = (entry: Entry): void => {
    entries.delete(entry);
    if (entries.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  return {
    check,
    begin(expire) {
      const entry: Entry = { beganAt: clock.monotonic(), waitingSince: undefined, expire };
      entries.add(entry);
      timer ??= setInterval(check, checkEveryMs).unref();
      return {
        wait() {
          entry.waitingSince = clock.monotonic();
        },
        rest() {
          entry.waitingSince = undefined;
        },
        end() {
          remove(entry);
        },
      };
    },
  };
}
