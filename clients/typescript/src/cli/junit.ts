/** The report of an evaluation in the form of JUnit, which CI systems show. */
import type { components } from '../generated/types.ts';
import { reasonsOf, type CaseResult } from './results.ts';
import { describeVerdict } from './verdict-text.ts';

type Evaluation = components['schemas']['Evaluation'];

/**
 * The verdict as a test, and each case as one. The verdict decides: of an evaluation that passed, cases that did not are
 * skipped tests, because its rule allows them.
 */
export async function* junitReport(
  slug: string,
  evaluation: Evaluation,
  results: AsyncIterable<CaseResult>,
): AsyncGenerator<string> {
  const { verdict } = evaluation;
  const hasPassed = verdict?.outcome === 'passed';
  const suite = `${slug} version ${evaluation.candidate.version}`;
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite name="${escape(suite)}">\n`;
  const sentence = verdict === undefined ? evaluation.status : describeVerdict(evaluation, verdict);
  yield test('verdict', suite, undefined, hasPassed ? '' : `<failure message="${escape(sentence)}"/>`);
  for await (const { case: id, outcome, candidate } of results) {
    const reasons = escape(reasonsOf(candidate).join(' '));
    const isWrong = candidate?.passed === false;
    const content =
      outcome === 'erased'
        ? '<skipped message="Its content was erased."/>'
        : outcome === 'error'
          ? `<error message="${reasons || 'The baseline has no answer.'}"/>`
          : !isWrong
            ? ''
            : hasPassed
              ? `<skipped message="${escape(outcome)}: ${reasons}"/>`
              : `<failure message="${escape(outcome)}: ${reasons}"/>`;
    yield test(id, suite, candidate?.latency_ms, content);
  }
  yield '</testsuite>\n</testsuites>\n';
}

function test(name: string, suite: string, milliseconds: number | undefined, content: string): string {
  const time = milliseconds === undefined ? '' : ` time="${milliseconds / 1_000}"`;
  return `<testcase name="${escape(name)}" classname="${escape(suite)}"${time}>${content}</testcase>\n`;
}

const entities: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;' };

/** Without the characters that XML 1.0 cannot have. */
function escape(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[\n\r\t]/g, ' ')
    .replace(/[<>&"]/g, (character) => entities[character] ?? '');
}
