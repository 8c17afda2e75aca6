import Sequencer from '@jest/test-sequencer';

/** Begun first, because they take the longest: those that wait for processes and outages, and those that compute. */
const waiting = ['db/embedded.test', 'faults/', 'operation/'];
const computing = ['contract/', 'webhooks/'];

/** Begins with the slow files, by turns of both kinds, so that no worker is left with one at the end and no core is idle. */
export default class SlowFirst extends Sequencer {
  async sort(tests) {
    // For global-setup.ts: no more database servers than files.
    process.env['TEST_FILES'] = String(tests.length);
    const order = process.env['TEST_ORDER']?.split(',');
    if (order !== undefined) {
      const placeOf = ({ path }) => order.findIndex((file) => path.endsWith(`/${file}`));
      return tests.toSorted((a, b) => placeOf(a) - placeOf(b));
    }
    const sorted = await super.sort([...tests]);
    const those = (parts) => parts.flatMap((part) => sorted.filter(({ path }) => path.includes(`/test/${part}`)));
    const [waits, computes] = [those(waiting), those(computing)];
    const length = Math.max(waits.length, computes.length);
    const slow = Array.from({ length }, (_, index) => [waits[index], computes[index]]).flat();
    return [...new Set([...slow, ...sorted])].filter((test) => test !== undefined);
  }
}
