import type { AuthorRef } from '../../base/limits/principal.ts';
import type { Collection } from 'mongodb';
import type { CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import { read, upsertOnce } from '../../storage/db/writes.ts';
import type { StoredOf } from '../../base/fields/kinds.ts';
import type { Listing } from '../../base/lists/listing.ts';
import { createArchive, numberedEntries, type Archive } from '../archive-store.ts';
import { canaryOfMove, type Canary } from '../evaluations/canaries/canary.ts';
import { release, type StoredRelease } from './gate.ts';
import { releaseWarningList, type LabelMove } from './label.ts';

/**
 * Earlier moves of labels in the database. The last move of a label is in its prompt. Every method can throw
 * `database-unavailable`.
 */
export interface LabelMoveStore extends Archive {
  /** Archives a move. Call it before it is overwritten in the prompt. */
  archive(promptId: string, move: LabelMove): Promise<void>;
  /** The last archived move of a label. */
  findLast(promptId: string, name: string): Promise<LabelMove | undefined>;
  /** The last version that a label named before a move. @param except not this one */
  versionBefore(
    promptId: string,
    move: Pick<LabelMove, 'name' | 'sequence'>,
    except?: number,
  ): Promise<number | undefined>;
  /** The archived end of the last canary of a label with these two versions. */
  findEnded(promptId: string, name: string, versions: Pick<Canary, 'stable' | 'version'>): Promise<Canary | undefined>;
  /** The moves of a label up to this one, the latest first: this one as given, the others archived. */
  list(promptId: string, last: LabelMove): Listing<LabelMove>;
}

/** A move, under the id `<prompt id>:<label>:<sequence>`. */
interface MoveDocument {
  _id: string;
  prompt_id: string;
  label: string;
  sequence: number;
  /** Absent in a deletion. */
  version?: number;
  /** Absent if there are none. */
  warnings?: NonNullable<StoredOf<typeof releaseWarningList>>;
  /** Absent if no gate asked. */
  gate?: StoredRelease;
  /** Absent without one. */
  rollout?: NonNullable<StoredOf<typeof canaryOfMove>>;
  moved_at: Date;
  author: AuthorRef;
}

const collectionName = 'label_moves';

export const labelIndexes: readonly CollectionIndexes[] = [
  {
    collection: collectionName,
    indexes: [{ key: { prompt_id: 1, sequence: -1 }, name: 'prompt_id_1_sequence_-1' }],
  },
];

/** Keeps earlier moves of labels in the collection `label_moves`. */
export function createLabelMoveStore(database: PagedDatabase): LabelMoveStore {
  const moves: Collection<MoveDocument> = database.db.collection(collectionName);
  return {
    ...createArchive(database.pages, moves, 'sequence'),
    async archive(promptId, move) {
      await upsertOnce(moves, toDocument(promptId, move));
    },
    async findLast(promptId, name) {
      const filter = { prompt_id: promptId, label: name };
      const document = await read(() => moves.findOne(filter, { sort: { sequence: -1 } }));
      return document === null ? undefined : fromDocument(document);
    },
    async versionBefore(promptId, { name, sequence }, except = 0) {
      const filter = {
        prompt_id: promptId,
        label: name,
        sequence: { $lt: sequence },
        version: { $gt: 0, $ne: except },
      };
      const document = await read(() => moves.findOne(filter, { sort: { sequence: -1 } }));
      return document?.version;
    },
    async findEnded(promptId, name, { stable, version }) {
      const versions = { 'rollout.stable': stable, 'rollout.version': version };
      const filter = { prompt_id: promptId, label: name, ...versions, 'rollout.ended.reason': { $gt: '' } };
      const document = await read(() => moves.findOne(filter, { sort: { sequence: -1 } }));
      return canaryOfMove.fromStored(document?.rollout);
    },
    list: (promptId, last) => ({
      entries: (start, most) =>
        numberedEntries(start, most, {
          last: last.sequence,
          current: last,
          async *archived(numbers) {
            const ids = numbers.map((sequence) => moveId(promptId, last.name, sequence));
            for await (const [, document] of database.pages.fetch(moves, ids)) yield document && fromDocument(document);
          },
        }),
      total: () => Promise.resolve(last.sequence),
    }),
  };
}

function moveId(promptId: string, name: string, sequence: number): string {
  return `${promptId}:${name}:${sequence}`;
}

function toDocument(promptId: string, move: LabelMove): MoveDocument {
  const { name, sequence, version, movedAt, author } = move;
  const rollout = canaryOfMove.toStored(move.canary);
  const warnings = releaseWarningList.toStored(move.warnings ?? []);
  const gate = release.toStored(move.release);
  return {
    _id: moveId(promptId, name, sequence),
    prompt_id: promptId,
    label: name,
    sequence,
    ...(version !== undefined && { version }),
    ...(warnings !== undefined && { warnings }),
    ...(gate !== undefined && { gate }),
    ...(rollout !== undefined && { rollout }),
    moved_at: movedAt,
    author,
  };
}

function fromDocument({ label, sequence, version, moved_at, author, gate, ...document }: MoveDocument): LabelMove {
  const warnings = releaseWarningList.fromStored(document.warnings);
  const canary = canaryOfMove.fromStored(document.rollout);
  const move = { name: label, sequence, warnings, canary, movedAt: moved_at, author };
  return { ...move, release: release.fromStored(gate), ...(version !== undefined && { version }) };
}
