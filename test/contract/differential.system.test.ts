import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { operationTable } from '../../generated/operations.ts';
import { knownDifferences } from '../support/known-differences.ts';
import { requests } from '../support/request-arbitraries.ts';
import { isNightly, runSettings } from '../support/run-settings.ts';
import { createSecondOpinion } from '../support/second-opinion.ts';

/**
 * Compares two independent implementations of the contract on the same generated requests: the generated validators in
 * the request pipeline of the service, and express-openapi-validator.
 */
const { seed, numRuns } = runSettings(8_000);

const judge = createSecondOpinion();

describe('service and referee', () => {
  it('agree on generated requests, except for the known differences', async () => {
    const seen = new Map(Object.keys(operationTable).map((id) => [id, { accepted: 0, refused: 0 }]));
    await fc.assert(
      fc.asyncProperty(
        requests({ slipOneIn: 15, hints: { provider: ['echo'], url: ['https://kitchen.example.com/hooks'] } }),
        async (request) => {
          const { service, referee } = await judge(request);
          const count = seen.get(request.operationId);
          if (count !== undefined) count[service.accepted ? 'accepted' : 'refused'] += 1;
          if (service.accepted === referee.accepted) return;
          const refusedBy = service.accepted ? 'referee' : 'service';
          const known = knownDifferences.filter((difference) => difference.covers(request));
          if (known.some((difference) => difference.refusedBy === refusedBy)) return;
          throw new Error(`only the ${refusedBy} refuses: ${service.accepted ? referee.reason : service.reason}`);
        },
      ),
      { seed, numRuns },
    );
    // A run in which every request is accepted, or every request is refused, would prove nothing.
    const counts = [...seen.values()];
    expect(counts.filter(({ accepted }) => accepted > 0).length).toBeGreaterThan(counts.length / 2);
    expect(counts.filter(({ refused }) => refused > 0).length).toBeGreaterThan(counts.length / 2);
    if (isNightly)
      expect([...seen].filter(([, { accepted, refused }]) => Math.min(accepted, refused) === 0)).toEqual([]);
  }, 240_000);

  it.each(knownDifferences.map((difference) => [difference.name, difference] as const))(
    'still differ in %s',
    async (_name, { example, refusedBy, covers }) => {
      expect(covers(example)).toBe(true);
      const { service, referee } = await judge(example);
      expect({ service: service.accepted, referee: referee.accepted }).toEqual({
        service: refusedBy !== 'service',
        referee: refusedBy !== 'referee',
      });
    },
  );
});
