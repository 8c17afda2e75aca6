/** Whether this is `npm run test:nightly`, which takes its time. */
export const isNightly = process.env['TEST_NIGHTLY'] === 'on';

/**
 * How many generated cases are tried: all of them every night, a tenth in `npm test`. `FC_RUNS` sets another number, and
 * `FC_SEED` repeats a run (but for ids).
 */
export function runSettings(nightlyRuns: number): { readonly seed: number; readonly numRuns: number } {
  return {
    seed: Number(process.env['FC_SEED'] ?? 20_260_101),
    numRuns: Number(process.env['FC_RUNS'] ?? (isNightly ? nightlyRuns : nightlyRuns / 10)),
  };
}
