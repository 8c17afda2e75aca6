import { useFormat, useTexts } from '../../../shared/texts.tsx';
import { usePromptStatistics } from '../prompt-queries.ts';

/** The feedback of the last day on each version, in words. Versions without any are absent. */
export function useVersionFeedback(promptId: string): ReadonlyMap<number, string> {
  const { rated } = useTexts().prompts.statistics;
  const format = useFormat();
  const { data } = usePromptStatistics(promptId, 'day');
  const words = (data?.versions ?? []).flatMap(({ version, totals: { feedback, average_score: score } }) =>
    feedback === undefined || score === undefined
      ? []
      : [[version, rated(format.number(feedback), format.number(score, { signDisplay: 'exceptZero' }))] as const],
  );
  return new Map(words);
}
