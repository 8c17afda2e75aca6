import diff, { type Difference } from 'microdiff';
import type { Surface } from './surface.ts';

/** A difference between two surfaces. */
export interface Change {
  readonly type: Difference['type'];
  /** The keys from the root of the surface. */
  readonly path: readonly string[];
  /** The last key of the path. */
  readonly key: string;
  readonly old: Surface[string] | undefined;
  readonly new: Surface[string] | undefined;
  /** The parent of the key, before and now. */
  readonly before: Surface;
  readonly after: Surface;
}

/** Lists every difference between two surfaces. An added or removed object is one change. */
export function listChanges(before: Surface, after: Surface): Change[] {
  return diff(before, after, { cyclesFix: false }).map((difference) => {
    const path = difference.path.map(String);
    return {
      type: difference.type,
      path,
      key: path.at(-1) ?? '',
      old: difference.type === 'CREATE' ? undefined : (difference.oldValue as Surface[string]),
      new: difference.type === 'REMOVE' ? undefined : (difference.value as Surface[string]),
      before: parentOf(before, path),
      after: parentOf(after, path),
    };
  });
}

function parentOf(surface: Surface, path: readonly string[]): Surface {
  return path.slice(0, -1).reduce<Surface>((node, key) => (node[key] ?? {}) as Surface, surface);
}

/** Whether a change adds or removes a media type. */
export function isMediaType({ key, path }: Change): boolean {
  return (
    (path[2] === 'body' && path.length === 4 && key !== 'required') || (path[4] === 'content' && path.length === 6)
  );
}
