import type { components } from '../generated/types.ts';
import { money } from './verdict-text.ts';

type Evaluation = components['schemas']['Evaluation'];

/** Shows how far an evaluation is: a bar on a terminal, else a line for each tenth. */
export function createProgress(
  write: (text: string) => void,
  isTerminal: boolean,
): { show(evaluation: Evaluation): void; end(): void } {
  const width = 30;
  let last = '';
  return {
    show({ status, cases_done: done, dataset: { cases }, cost }) {
      const share = status === 'running' && cases > 0 ? done / cases : 0;
      const paid = cost === null ? '' : `, ${money(cost)}`;
      const text = status === 'running' ? `${done} of ${cases} cases${paid}` : status;
      if (isTerminal) {
        const filled = Math.round(share * width);
        // Clears what was longer.
        write(`\r[${'#'.repeat(filled)}${'-'.repeat(width - filled)}] ${text}\u001b[K`);
      } else if (last !== `${status}${Math.floor(share * 10)}`) {
        write(`${text}\n`);
      }
      last = `${status}${Math.floor(share * 10)}`;
    },
    end() {
      if (isTerminal && last !== '') write('\r\u001b[K');
    },
  };
}
