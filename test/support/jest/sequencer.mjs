import Sequencer from '@jest/test-sequencer';

/** Begun first, because they take the longest. */
const slow = ['db/embedded.test', 'contract/', 'faults/', 'operation/'];
/** Begun last: it looks at what all others did. */
const last = 'declared-statuses.test';

/** Begins with the slow files, so that no worker is left with one at the end. */
export default class SlowFirst extends Sequencer {
  sort(tests) {
    // Worker processes inherit it.
    process.env['TEST_FILES'] = String(tests.length);
    const rank = ({ path }) => (path.includes(last) ? slow.length + 1 : rankAmongSlow(path));
    return super.sort([...tests]).toSorted((one, other) => rank(one) - rank(other));
  }
}

function rankAmongSlow(path) {
  const index = slow.findIndex((part) => path.includes(`/test/${part}`));
  return index === -1 ? slow.length : index;
}
