import type { PagedDatabase } from '../../src/storage/db/pages.ts';

/** A command, such as `updateMany` of `deliveries`, with its arguments as text. */
export interface Command {
  readonly collection: string;
  readonly method: string;
  readonly text: string;
}

/**
 * A database that refuses commands with an error that no outage has, as the driver does for a mistake in the program.
 * @param refuses whether a command is refused
 */
export function refusing<Kind extends PagedDatabase>(database: Kind, refuses: (command: Command) => boolean): Kind {
  const db = wrap(database.db, 'collection', (collection) => {
    const { collectionName } = collection as { collectionName: string };
    return new Proxy(collection as object, {
      get(target, method) {
        const value = Reflect.get(target, method) as unknown;
        if (typeof value !== 'function') return value;
        return (...given: unknown[]): unknown => {
          const text = JSON.stringify(given, (_name, one: unknown) => (typeof one === 'bigint' ? String(one) : one));
          const command = { collection: collectionName, method: String(method), text };
          if (refuses(command)) throw new TypeError(`${command.method} is refused`);
          return Reflect.apply(value, target, given) as unknown;
        };
      },
    });
  });
  return { ...database, db };
}

/** The same object, of which one method returns something else. */
function wrap<Target extends object>(target: Target, name: string, replace: (result: unknown) => unknown): Target {
  return new Proxy(target, {
    get(of, property) {
      const value = Reflect.get(of, property) as unknown;
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        const result = Reflect.apply(value, of, given) as unknown;
        return property === name ? replace(result) : result;
      };
    },
  });
}
