import { hash } from 'node:crypto';
import type { ProblemDetail } from '../../../base/errors/problem-error.ts';
import { canonicalJson } from '../../../base/runtime/canonical-json.ts';
import { newSchemaAllowance } from '../../../base/json-schema/schema-mistakes.ts';
import { checkMistakes } from '../checks/check-mistakes.ts';
import { mostCaseBytes, mostCases, type CaseInput } from './dataset.ts';

/** Where a case comes from, for the sentences about it. */
export interface Place {
  /** Of JSON Lines. */
  readonly line?: number;
  /** Of the case, without `#`. */
  readonly pointer: string;
}

/** The line of a case that fits. */
export interface CheckedLine {
  readonly id: string;
  readonly line: string;
  /** The invocation that its content belongs to. */
  readonly sealedFor?: string;
}

/**
 * The lines of a version that is being made: each case with an id, and none with that of another.
 * @param refuse called for each case that does not fit
 */
export class CaseLines {
  readonly #places = new Map<string, Place>();
  /** The cases have a limit of their own. */
  readonly #allowance = { ...newSchemaAllowance(), bytes: Infinity };
  readonly #refuse: (mistake: ProblemDetail) => void;

  constructor(refuse: (mistake: ProblemDetail) => void) {
    this.#refuse = refuse;
  }

  /** @returns its line; undefined if it was refused */
  line(sent: CaseInput, place: Place): CheckedLine | undefined {
    // Of a case that can be erased, the id says nothing about its content.
    const id = sent.id ?? sent.invocation_id ?? idOf(sent);
    const other = this.#places.get(id);
    if (other !== undefined) {
      const made = sent.invocation_id === undefined ? 'variables and messages' : 'invocation_id';
      const member = sent.id === undefined ? made : 'id';
      this.#say(place, sent.id === undefined ? '' : '/id', `has the same ${member} as ${named(other)}`);
      return undefined;
    }
    if (this.#places.size >= mostCases) {
      this.#say(place, '', `is one more than the ${mostCases} cases of a data set`);
      return undefined;
    }
    this.#places.set(id, place);
    const mistakes = checkMistakes(sent.checks ?? [], this.#allowance);
    for (const { detail, pointer } of mistakes) this.#say(place, `/checks${pointer}`, detail);
    if (mistakes.length > 0) return undefined;
    const line = JSON.stringify({ id, ...sent });
    // Of a case that was erased there is no content.
    const sealedFor = sent.erased === true ? undefined : sent.invocation_id;
    const checked = { id, line, ...(sealedFor !== undefined && { sealedFor }) };
    // Sent as JSON Lines, it was measured as it came.
    if (place.line !== undefined || Buffer.byteLength(line) <= mostCaseBytes) return checked;
    this.#say(place, '', `has more than ${mostCaseBytes} bytes`);
    return undefined;
  }

  #say({ line, pointer }: Place, member: string, detail: string): void {
    this.#refuse({ detail, ...(line !== undefined && { line }), pointer: `#${pointer}${member}` });
  }
}

function named(place: Place): string {
  return place.line === undefined ? `the case at #${place.pointer}` : `line ${place.line}`;
}

/** The same for cases with the same variables and messages. */
function idOf({ variables = {}, messages = [] }: CaseInput): string {
  return hash('sha256', canonicalJson({ variables, messages }), 'hex').slice(0, 32);
}
