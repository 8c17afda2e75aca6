import type { Candidacy, ContentVersion, Decision } from '../../labels/candidacy.ts';
import type { Comparison } from './comparisons.ts';

/** Whether a gate lets a version in, and how; else each reason, with what would show it. */
export function decisionOf(candidacy: Candidacy, comparisons: readonly Comparison[]): Decision {
  const { gate, changes } = candidacy;
  const reasons = comparisons.filter(({ status }) => status !== 'passed').map((one) => reasonOf(candidacy, one));
  if (comparisons.length === 0) {
    reasons.push(
      'The label has never named a version to compare with: give the gate an anchor or another rule, or send "override".',
    );
  }
  if (gate.breaking === 'refuse' && changes.length > 0) {
    const some = changes.map(({ code, pointer }) => `${code} at ${pointer}`);
    reasons.push(`It can break callers: ${some.join(', ')}.`);
  }
  return { evaluations: comparisons.flatMap(({ counted }) => counted.map(({ id }) => id)), reasons };
}

function reasonOf({ promptId, gate, candidate, named }: Candidacy, comparison: Comparison): string {
  const { against, baseline, status, counted, trials, isEvaluable } = comparison;
  const body = JSON.stringify({ version: candidate.version, ...(against === 'anchor' && { against }) });
  const request = `POST /api/v1/prompts/${promptId}/labels/${gate.label}/gate/evaluations with ${body}`;
  const compared = baseline === undefined ? '' : ` against ${nameOf(baseline, named)}`;
  const ids = (counted.length === 0 ? trials.map(({ evaluation }) => evaluation) : counted).map(({ id }) => id);
  const evaluations = `${ids.length === 1 ? 'evaluation' : 'evaluations'} ${ids.join(' and ')}`;
  switch (status) {
    case 'running':
      return `Its evaluation${compared} has not ended: get evaluation ${trials.at(-1)?.evaluation.id} until it has.`;
    case 'failed':
      return `It has failed${compared}: ${evaluations}.`;
    case 'inconclusive':
      if (isEvaluable) return `Its evaluation${compared} is inconclusive (${evaluations}): send ${request} once more.`;
      return `It was evaluated twice${compared}, and both are inconclusive together: ${evaluations}.`;
    case 'stale': {
      const [last] = trials.filter(({ stale }) => stale.length > 0).slice(-1);
      return `Its evaluation ${last?.evaluation.id}${compared} is stale. ${last?.stale.join(' ')} Send ${request}.`;
    }
    default:
      return `It was not evaluated${compared}: send ${request}.`;
  }
}

function nameOf({ version }: ContentVersion, named: ContentVersion | undefined): string {
  return `version ${version}, ${version === named?.version ? 'which the label names' : 'the anchor'}`;
}
