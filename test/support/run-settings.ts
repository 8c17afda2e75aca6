/** Whether this is a part of `npm run test:nightly`, which may take long. */
export const isNightly = process.env['TEST_NIGHTLY'] === 'on';

/**
 * The number of generated cases: all of them in the nightly run, a tenth in `npm test`. `FC_RUNS` sets another number,
 * and `FC_SEED` repeats a run (except for ids).
 */
export function runSettings(nightlyRuns: number): { readonly seed: number; readonly numRuns: number } {
  return {
    seed: Number(process.env['FC_SEED'] ?? 20_260_101),
    numRuns: Number(process.env['FC_RUNS'] ?? (isNightly ? nightlyRuns : nightlyRuns / 10)),
  };
}
