import { endOfString } from './inexact-numbers.ts';
import { toStep, type JsonPath } from './json-pointer.ts';

/** The characters of a value in a JSON text: from the first, to the one before the end. */
export type Place = readonly [start: number, end: number];

/** What a JSON text says beside its values. */
export interface JsonPlaces {
  /** The values of the members of the outermost object, by name. */
  readonly members: ReadonlyMap<string, Place>;
  /** The values that were looked for, by their JSON pointers as URI fragments. */
  readonly inner: ReadonlyMap<string, Place>;
  /** A name that an object has twice. Readers differ in which of both counts. */
  readonly repeated: string | undefined;
}

/** An object or an array that has begun and not ended. */
interface Open {
  /** The names so far; undefined for an array. */
  readonly names: Set<string> | undefined;
  /** The name or the index of the value that comes or goes on. */
  step: string | number;
  /** Where the value of a member begins. */
  start: number;
}

/**
 * Finds where the members of a JSON object are in its text, and names that occur twice in any object of it. It takes
 * linear time.
 *
 * @param text valid JSON, an object
 * @param wanted the path of further values to find, members of objects
 */
export function findPlaces(text: string, wanted: JsonPath = []): JsonPlaces {
  const members = new Map<string, Place>();
  const inner = new Map<string, Place>();
  const open: Open[] = [];
  let repeated: string | undefined;
  let isName = false;
  /** After the last value. */
  let end = 0;
  const isWanted = ({ step, names }: Open, depth: number): boolean =>
    wanted[depth] === null ? names === undefined : wanted[depth] === step;
  const endValue = (): void => {
    const last = open.at(-1);
    if (last === undefined) return;
    if (last.names === undefined) last.step = Number(last.step) + 1;
    else if (last.start > 0) {
      if (open.length === 1) members.set(String(last.step), [last.start, end]);
      if (open.length === wanted.length && open.every(isWanted)) {
        inner.set(`#/${open.map(({ step }) => toStep(String(step))).join('/')}`, [last.start, end]);
      }
      last.start = 0;
    }
  };
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
        open.push({ names: new Set(), step: '', start: 0 });
        isName = true;
        break;
      case 0x5b: // [
        open.push({ names: undefined, step: 0, start: 0 });
        isName = false;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        endValue();
        open.pop();
        isName = false;
        end = at + 1;
        break;
      case 0x2c: // ,
        endValue();
        isName = open.at(-1)?.names !== undefined;
        break;
      case 0x22: {
        // "
        const next = endOfString(text, at);
        if (isName) {
          const name = JSON.parse(text.slice(at, next)) as string;
          const object = open.at(-1);
          if (object?.names?.has(name)) repeated ??= name;
          object?.names?.add(name);
          const start = startOfValue(text, next);
          if (object !== undefined) Object.assign(object, { step: name, start });
          isName = false;
          at = start - 1;
        } else {
          end = next;
          at = next - 1;
        }
        break;
      }
      case 0x20:
      case 0x09:
      case 0x0a:
      case 0x0d:
        break;
      default:
        // A part of a number, or of a literal.
        end = at + 1;
    }
  }
  return { members, inner, repeated };
}

/** The index of the value after a colon. */
function startOfValue(text: string, from: number): number {
  let at = text.indexOf(':', from) + 1;
  while (' \t\n\r'.includes(text.charAt(at))) at += 1;
  return at;
}
