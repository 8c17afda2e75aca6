import type { Schemas } from 'prompt-gateway-client';
import type { Format } from '../../../shared/format.ts';
import type { evaluations } from '../../../texts/evaluations.ts';
import { pointsOf } from './points.ts';
import type { Evaluation } from './queries.ts';

type Verdict = NonNullable<Evaluation['verdict']>;
type Texts = (typeof evaluations)['en']['verdict'];

/** The verdict in sentences: what the cases show, how many would decide, and what else counts. */
export function verdictSentences(evaluation: Evaluation, verdict: Verdict, texts: Texts, format: Format): string[] {
  const { outcome, units, errors, needed } = verdict;
  const { cases } = evaluation.dataset;
  const isOpen = outcome === 'inconclusive' && evaluation.rule.all_pass === undefined;
  return [
    whatIsShown(evaluation, verdict, texts, format),
    ...(isOpen ? [needed === undefined ? texts.notNeeded : texts.needed(format.number(needed))] : []),
    ...(errors > 0 ? [texts.errors(errors, format.number(errors))] : []),
    ...(units < cases ? [texts.units(format.number(units), format.number(cases))] : []),
  ];
}

function whatIsShown(evaluation: Evaluation, verdict: Verdict, texts: Texts, format: Format): string {
  const { candidate, baseline, rule } = evaluation;
  const { outcome, interval, units, errors, passed } = verdict;
  const isSameVersion = baseline?.version === candidate.version;
  const modelOf = ({ provider, model }: Schemas['EvaluatedSide']): string =>
    isSameVersion ? [provider, model].filter((part) => part !== undefined).join(' / ') : '';
  const one = texts.side(candidate.version, modelOf(candidate));
  const { not_worse_by: margin, min_pass_rate: rate } = rule;
  if (margin !== undefined) {
    const other = baseline === undefined ? '' : texts.other(baseline.version, modelOf(baseline));
    const points = (share: number): string => format.number(pointsOf(share, margin));
    const signed = (share: number): string => signedPoints(share, margin, format);
    const [worst, best] = [-interval.lower, -interval.upper];
    if (outcome === 'failed') return texts.worse(one, other, points(best), points(worst));
    if (outcome !== 'passed') {
      return texts.unclear(one, other, points(margin), signed(interval.lower), signed(interval.upper));
    }
    if (interval.lower > 0) return texts.better(one, other, points(interval.lower), points(interval.upper));
    if (interval.upper < 0) return texts.slightlyWorse(one, other, points(margin), points(best), points(worst));
    return texts.notWorse(one, other, points(margin), points(worst));
  }
  if (rate !== undefined) {
    const [lower, upper] = [interval.lower, interval.upper].map((end) => rateOf(end, rate, format));
    const wanted = format.percent(rate);
    if (outcome === 'passed') return texts.ratePassed(one, wanted, lower ?? '');
    if (outcome === 'failed') return texts.rateFailed(one, wanted, upper ?? '');
    return texts.rateUnclear(one, wanted, lower ?? '', upper ?? '');
  }
  if (outcome === 'passed') return texts.allPassed(one, units, format.number(units));
  if (outcome === 'failed') {
    return texts.notAllPassed(one, format.number(units - errors - passed), format.number(units));
  }
  return texts.allUnclear(one, errors, format.number(errors));
}

/** `−3.7` or `+3.7` */
export function signedPoints(share: number, margin: number, format: Format): string {
  const points = share < 0 ? -pointsOf(-share, margin) : pointsOf(share, margin);
  return format.number(points, { signDisplay: 'exceptZero', maximumFractionDigits: 4 }).replace('-', '−');
}

/** `96.4%`, which does not look like the rate that it is above or below. */
export function rateOf(share: number, rate: number, format: Format): string {
  return format.number(pointsOf(share, rate) / 100, { style: 'percent', maximumFractionDigits: 4 });
}
