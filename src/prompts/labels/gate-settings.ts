import { isDeepStrictEqual } from 'node:util';
import type { Author } from '../../access/audit/author.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { authorOf } from '../../base/limits/principal.ts';
import { listingOf, type Listing } from '../../base/lists/listing.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';
import type { Prompt } from '../prompt.ts';
import type { Prompts } from '../prompts.ts';
import { candidacyOf, type Candidacy } from './candidacy.ts';
import { findGate, type Gate, type NewGate } from './gate.ts';
import type { EditLabels } from './label-edits.ts';
import type { Past } from './past.ts';

/** A gate with the id of its prompt. */
export interface FoundGate {
  readonly promptId: string;
  readonly gate: Gate;
}

/**
 * Checks whether a gate is as the caller expects before it is set or removed.
 * @throws {ProblemError} precondition-required, precondition-failed
 */
export type GatePrecondition = (present: FoundGate | undefined) => void;

/** What a new gate refers to. @throws {ProblemError} if something of it does not exist, or does not fit together */
export type CheckGate = (
  prompt: Prompt,
  gate: NewGate,
) => Promise<Pick<Gate, 'datasetId' | 'datasetVersionId' | 'calibration'>>;

/** The gates of labels. Every method throws `prompt-not-found`. */
export interface GateSettings {
  /**
   * A version before the gate of a label; undefined if it is let in freely.
   * @throws {ProblemError} gate-not-found, version-not-found
   */
  candidacy(slugOrId: string, name: string, version: number): Promise<{ gate: Gate; candidacy: Candidacy | undefined }>;
  /** The gates of a prompt by the names of their labels. */
  list(slugOrId: string): Promise<Listing<Gate>>;
  /** @throws {ProblemError} gate-not-found */
  get(slugOrId: string, name: string): Promise<FoundGate>;
  /** @throws {ProblemError} too-many-gates, edit-conflict, and what check and precondition throw */
  set(
    slugOrId: string,
    name: string,
    gate: NewGate,
    rules: { readonly check: CheckGate; readonly precondition: GatePrecondition },
    author: Author,
  ): Promise<FoundGate & { readonly isNew: boolean }>;
  /** @throws {ProblemError} gate-not-found, edit-conflict, and what the precondition throws */
  remove(slugOrId: string, name: string, precondition: GatePrecondition, author: Author): Promise<void>;
}

export interface GateSettingsOptions {
  readonly prompts: Pick<Prompts, 'get' | 'getVersion'>;
  readonly edit: EditLabels;
  readonly past: Past;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Pick<Random, 'uuid'>;
}

/** The most gates of a prompt. */
const maxGates = 20;

export function createGateSettings({ prompts, edit, past, clock, random }: GateSettingsOptions): GateSettings {
  return {
    async candidacy(slugOrId, name, number) {
      const { prompt, version } = await prompts.getVersion(slugOrId, number);
      const { gate } = gateOf(prompt, slugOrId, name);
      const { content } = version;
      return { gate, candidacy: await candidacyOf(prompt, { name, version: number, content }, past) };
    },
    async list(slugOrId) {
      const { gates = [] } = await prompts.get(slugOrId);
      const byName = gates.toSorted((one, other) => (one.label < other.label ? -1 : 1));
      return listingOf(byName, ({ label }) => ({ at: 0, id: label }));
    },
    get: async (slugOrId, name) => gateOf(await prompts.get(slugOrId), slugOrId, name),
    set: (slugOrId, name, sent, { check, precondition }, author) =>
      edit(slugOrId, author, async (prompt) => {
        const { id: promptId, gates = [] } = prompt;
        const present = findGate(gates, name);
        precondition(present && { promptId, gate: present });
        if (present === undefined && gates.length >= maxGates) throw tooManyGates(slugOrId);
        const wanted = { ...sent, ...(await check(prompt, sent)) };
        if (present !== undefined && isDeepStrictEqual({ ...present, ...wanted }, present)) {
          return { result: { promptId, gate: present, isNew: false } };
        }
        const by = { author: authorOf(author.principal), updatedAt: clock.now() };
        const gate = { ...wanted, ...by, label: name, tag: random.uuid() };
        return {
          change: { gates: [...gates.filter((one) => one !== present), gate] },
          result: { promptId, gate, isNew: present === undefined },
        };
      }),
    remove: (slugOrId, name, precondition, author) =>
      edit(slugOrId, author, (prompt) => {
        const found = gateOf(prompt, slugOrId, name);
        precondition(found);
        return { change: { gates: (prompt.gates ?? []).filter((one) => one !== found.gate) }, result: undefined };
      }),
  };
}

function gateOf(prompt: Prompt, slugOrId: string, name: string): FoundGate {
  const gate = findGate(prompt.gates, name);
  if (gate === undefined) throw gateNotFound(slugOrId, name);
  return { promptId: prompt.id, gate };
}

function gateNotFound(slugOrId: string, name: string): ProblemError {
  const detail = `The label "${name}" of the prompt "${slugOrId}" has no gate.`;
  return new ProblemError('gate-not-found', { detail });
}

function tooManyGates(slugOrId: string): ProblemError {
  return new ProblemError('too-many-gates', { detail: `The prompt "${slugOrId}" already has ${maxGates} gates.` });
}
