/** `FC_SEED` repeats a run (but for ids), `FC_RUNS` sets its length. */
export function runSettings(usualRuns: number): { readonly seed: number; readonly numRuns: number } {
  return {
    seed: Number(process.env['FC_SEED'] ?? 20_260_101),
    numRuns: Number(process.env['FC_RUNS'] ?? usualRuns),
  };
}
