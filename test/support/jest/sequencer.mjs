import Sequencer from '@jest/test-sequencer';

/** Begun first, because they take the longest. */
const slow = ['db/embedded.test', 'contract/', 'faults/', 'operation/'];

/** Begins with the slow files, so that no worker is left with one at the end. */
export default class SlowFirst extends Sequencer {
  sort(tests) {
    // For global-setup.ts: no more database servers than files.
    process.env['TEST_FILES'] = String(tests.length);
    const rank = ({ path }) => {
      const index = slow.findIndex((part) => path.includes(`/test/${part}`));
      return index === -1 ? slow.length : index;
    };
    return super.sort([...tests]).toSorted((one, other) => rank(one) - rank(other));
  }
}
