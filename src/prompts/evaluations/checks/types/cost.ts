import type { CheckType } from '../check-type.ts';

/** The call cost at most the threshold, in US dollars. */
export const cost: CheckType = {
  takes: 'threshold',
  find({ answer, threshold = 0 }) {
    if (answer.cost === undefined) return { reason: 'The cost of the call is unknown.' };
    const holds = answer.cost <= threshold;
    const compared = holds ? 'at most' : 'more than';
    return { holds, reason: `The call cost ${answer.cost} US dollars, ${compared} ${threshold}.` };
  },
};
