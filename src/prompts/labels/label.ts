import { author } from '../../base/fields/author.ts';
import type { AuthorRef } from '../../base/limits/principal.ts';
import type { components } from '../../../generated/types.ts';
import { integer, list, moment, object, same, text, type Kind, type StoredOf } from '../../base/fields/kinds.ts';
import { canaryOfMove, showCanary, type Canary } from '../evaluations/canaries/canary.ts';
import type { ReleaseWarning } from '../templates/release-warnings.ts';
import { copyRelease, release, type Release } from './gate.ts';

/** What every move has: its number among the moves of its label, from 1, and who made it when. */
const move = { name: text, sequence: integer, movedAt: moment, author, canary: canaryOfMove };

const warningList = list(object({ code: same<ReleaseWarning['code']>(), detail: text, pointer: text }));
/** Absent in documents if there are none. */
export const releaseWarningList: Kind<
  readonly ReleaseWarning[],
  StoredOf<typeof warningList> | undefined,
  ReleaseWarning[]
> = {
  ...warningList,
  toStored: (warnings) => (warnings.length === 0 ? undefined : warningList.toStored(warnings)),
  fromStored: (stored = []) => warningList.fromStored(stored),
};

/** With what can break callers, compared with the version that the label named before, and how a gate let it in. */
const label = object({ ...move, version: integer, warnings: releaseWarningList, release });

/** The deletion of a label. */
export const labelDeletion = object(move);

export type LabelDeletion = ReturnType<typeof labelDeletion.fromStored>;
/** A label as its last move left it. */
export type Label = ReturnType<typeof label.fromStored>;
/** The creation, a move or a deletion of a label. */
export interface LabelMove extends Omit<LabelDeletion, 'canary'> {
  /** The version that the label names from then on; `undefined` for a deletion. */
  readonly version?: number;
  readonly warnings?: Label['warnings'];
  readonly release?: Release | undefined;
  readonly canary?: Canary | undefined;
}

const stored = list(label);

/** The labels of a prompt, ordered by name. A prompt shows their versions by label. */
export const labelList: Kind<readonly Label[], StoredOf<typeof stored>, NonNullable<Prompt['labels']>> = {
  ...stored,
  show: (labels) => Object.fromEntries(labels.map(({ name, version }) => [name, version])),
  read: () => undefined,
};
type Prompt = components['schemas']['Prompt'];

/** The label of this name. */
export function findLabel(labels: readonly Label[] | undefined, name: string): Label | undefined {
  return labels?.find((one) => one.name === name);
}

export function showLabel({ name, warnings: _, ...moved }: Label): components['schemas']['Label'] {
  return { name, ...showMove(moved), version: moved.version };
}

export function showMove({
  version,
  warnings = [],
  release: gate,
  ...moved
}: Omit<LabelMove, 'name'>): components['schemas']['LabelMovePage']['data'][number] {
  return {
    ...showMoved(moved),
    ...(version !== undefined && { version }),
    ...(warnings.length > 0 && { warnings: releaseWarningList.show(warnings) }),
    ...(gate !== undefined && { gate: copyRelease(gate) }),
  };
}

function showMoved({ sequence, movedAt, author, canary }: Omit<LabelMove, 'name'>): {
  sequence: number;
  moved_at: string;
  author: AuthorRef;
  canary?: components['schemas']['Canary'];
} {
  return { sequence, moved_at: movedAt.toISOString(), author, ...(canary && { canary: showCanary(canary) }) };
}
