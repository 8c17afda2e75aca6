import { endOfString } from './inexact-numbers.ts';

/** The characters of a value in a JSON text: from the first, to the one before the end. */
export type Place = readonly [start: number, end: number];

/** What a JSON text says beside its values. */
export interface JsonPlaces {
  /** The values of the members of the outermost object, by name. */
  readonly members: ReadonlyMap<string, Place>;
  /** A name that an object has twice. Readers differ in which of both counts. */
  readonly repeated: string | undefined;
}

/**
 * Finds where the members of a JSON object are in its text, and names that occur twice in any object of it. It takes
 * linear time.
 *
 * @param text valid JSON, an object
 */
export function findPlaces(text: string): JsonPlaces {
  const members = new Map<string, Place>();
  /** For each open object its names, for each open array nothing. */
  const open: (Set<string> | undefined)[] = [];
  let repeated: string | undefined;
  /** The member of the outermost object whose value comes or goes on. */
  let member: { readonly name: string; readonly start: number } | undefined;
  let isName = false;
  /** After the last value. */
  let end = 0;
  const endMember = (): void => {
    if (open.length === 1 && member !== undefined) members.set(member.name, [member.start, end]);
    if (open.length === 1) member = undefined;
  };
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
        open.push(new Set());
        isName = true;
        break;
      case 0x5b: // [
        open.push(undefined);
        isName = false;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        endMember();
        open.pop();
        isName = false;
        end = at + 1;
        break;
      case 0x2c: // ,
        endMember();
        isName = open.at(-1) !== undefined;
        break;
      case 0x22: {
        // "
        const next = endOfString(text, at);
        if (isName) {
          const name = JSON.parse(text.slice(at, next)) as string;
          const names = open.at(-1);
          if (names?.has(name)) repeated ??= name;
          names?.add(name);
          const start = startOfValue(text, next);
          if (open.length === 1) member = { name, start };
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
  return { members, repeated };
}

/** The index of the value after a colon. */
function startOfValue(text: string, from: number): number {
  let at = text.indexOf(':', from) + 1;
  while (' \t\n\r'.includes(text.charAt(at))) at += 1;
  return at;
}
