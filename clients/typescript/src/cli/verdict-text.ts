/** What people read of an evaluation. */
import type { components } from '../generated/types.ts';

type Schemas = components['schemas'];
type Evaluation = Schemas['Evaluation'];
type Verdict = NonNullable<Evaluation['verdict']>;

/** The verdict in a sentence, and what it was counted from. */
export function describeVerdict({ candidate, baseline, rule }: Evaluation, verdict: Verdict): string {
  const { outcome, interval, needed, also, units, errors, passed, regressed = 0, improved = 0 } = verdict;
  const name = nameOf(candidate);
  const counts = [
    `${units} ${units === 1 ? 'case' : 'cases'}`,
    `${passed} passed`,
    ...(baseline === undefined ? [] : [`${regressed} regressed`, `${improved} improved`]),
    ...(errors > 0 ? [`${errors} without an answer`] : []),
  ].join(', ');
  const [lower, upper] =
    baseline === undefined
      ? [percent(interval.lower), percent(interval.upper)]
      : [points(interval.lower), points(interval.upper)];
  const range = `${baseline === undefined ? 'Its rate' : 'The difference'} is between ${lower} and ${upper} with 95 % confidence (${counts}).`;
  const more = needed === undefined ? '' : ` About ${needed} cases would decide.`;
  const measurably = also === undefined ? '' : ` It is measurably ${also}.`;
  return `${outcome}: ${claimOf(outcome, name, baseline && nameOf(baseline), rule)} ${range}${measurably}${more}`;
}

function claimOf(outcome: string, candidate: string, baseline = '', rule: Evaluation['rule']): string {
  const { not_worse_by: margin, min_pass_rate: rate } = rule;
  if (margin !== undefined) {
    const by = `by ${number(margin * 100)} points or more`;
    if (outcome === 'passed') return `${candidate} is not worse than ${baseline} ${by}.`;
    if (outcome === 'failed') return `${candidate} is worse than ${baseline}.`;
    return `the cases do not show whether ${candidate} is worse than ${baseline} ${by}.`;
  }
  const what = rate === undefined ? 'every case' : `${percent(rate)} of cases like these`;
  if (outcome === 'passed') return `${candidate} passes ${what}.`;
  if (outcome === 'failed') return `${candidate} does not pass ${what}.`;
  return `the cases do not show whether ${candidate} passes ${what}.`;
}

function nameOf({ version, label }: Evaluation['candidate']): string {
  return label === undefined ? `version ${version}` : `version ${version} (${label})`;
}

export function money({ amount, currency }: { readonly amount: string; readonly currency: string }): string {
  return currency === 'USD' ? `$${amount}` : `${amount} ${currency}`;
}

function percent(rate: number): string {
  return `${number(rate * 100)} %`;
}

function points(difference: number): string {
  return `${difference > 0 ? '+' : ''}${number(difference * 100)} points`;
}

function number(value: number): string {
  return String(Math.round(value * 10) / 10);
}
