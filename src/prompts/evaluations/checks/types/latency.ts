import type { CheckType } from '../check-type.ts';

/** The call took at most the threshold, in milliseconds. */
export const latency: CheckType = {
  takes: 'threshold',
  find({ answer: { latencyMs }, threshold = 0 }) {
    const holds = latencyMs <= threshold;
    return { holds, reason: `The call took ${latencyMs} ms, ${holds ? 'at most' : 'more than'} ${threshold}.` };
  },
};
