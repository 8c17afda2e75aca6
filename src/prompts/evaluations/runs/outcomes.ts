/** How cases and groups of cases went. */
import type { Counts } from '../verdict/verdict.ts';
import type { AskedSide } from './ask-side.ts';

/** `erased`: the case was not asked, because its content was erased. */
export type Outcome = 'regressed' | 'improved' | 'same' | 'passed' | 'failed' | 'error' | 'erased';

/**
 * How a case went, in the one character by which the document of the evaluation has it: `e` for an error, `x` if its content
 * was erased, else the sum of 1 if the candidate passes, and 2 if the baseline does.
 */
export type OutcomeCode = 'e' | 'x' | '0' | '1' | '2' | '3';

export function codeOf(candidate: AskedSide, baseline: AskedSide | undefined): OutcomeCode {
  const passed = candidate.result.passed;
  const before = baseline === undefined ? false : baseline.result.passed;
  if (passed === undefined || before === undefined) return 'e';
  return before ? (passed ? '3' : '2') : passed ? '1' : '0';
}

export function outcomeOf(code: OutcomeCode, hasBaseline: boolean): Outcome {
  if (code === 'e') return 'error';
  if (code === 'x') return 'erased';
  if (!hasBaseline) return code === '1' ? 'passed' : 'failed';
  return code === '1' ? 'improved' : code === '2' ? 'regressed' : 'same';
}

type CountedCode = Exclude<OutcomeCode, 'x'>;

/** Adds up cases. Those of a group count together: a side passes if it passes each of them. */
export class OutcomeSums {
  readonly #groups = new Map<string, CountedCode>();
  readonly #sums: Record<CountedCode, number> = { e: 0, 0: 0, 1: 0, 2: 0, 3: 0 };

  add(code: OutcomeCode, group: string | undefined): void {
    if (code === 'x') return;
    if (group === undefined) this.#sums[code] += 1;
    else this.#groups.set(group, together(this.#groups.get(group) ?? '3', code));
  }

  counts(hasBaseline: boolean): Counts {
    const sums = { ...this.#sums };
    for (const code of this.#groups.values()) sums[code] += 1;
    const decided = sums[0] + sums[1] + sums[2] + sums[3];
    return {
      cases: decided + sums.e,
      errors: sums.e,
      passed: sums[1] + sums[3],
      regressed: hasBaseline ? sums[2] : 0,
      improved: hasBaseline ? sums[1] : 0,
    };
  }
}

/** Adds up the results of an evaluation that count. */
export function sumsOf(
  entries: readonly { readonly outcomes: string; readonly groups?: readonly (string | null)[] }[],
): OutcomeSums {
  const sums = new OutcomeSums();
  for (const { outcomes, groups } of entries) {
    for (const [index, code] of [...outcomes].entries()) sums.add(code as OutcomeCode, groups?.[index] ?? undefined);
  }
  return sums;
}

function together(one: CountedCode, other: CountedCode): CountedCode {
  if (one === 'e' || other === 'e') return 'e';
  return String(Number(one) & Number(other)) as CountedCode;
}
