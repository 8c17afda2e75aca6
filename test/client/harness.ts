import type { GatewayOptions } from '../../clients/typescript/src/gateway-options.ts';
import type { Resources } from '../../clients/typescript/src/generated/resources.ts';
import { makeResources } from '../../clients/typescript/src/resources.ts';
import { createSend } from '../../clients/typescript/src/send.ts';
import { realTiming, type Timing } from '../../clients/typescript/src/timing.ts';

export interface ImpatientGateway extends Resources {
  /** The pauses that the client asked for, in milliseconds. */
  readonly pauses: readonly number[];
}

/** A gateway that makes no pauses between its attempts, but records them. */
export function createImpatientGateway(options: GatewayOptions, timing: Partial<Timing> = {}): ImpatientGateway {
  const pauses: number[] = [];
  const sleep: Timing['sleep'] = async (ms, signal) => {
    signal?.throwIfAborted();
    pauses.push(ms);
    await Promise.resolve();
  };
  const calls = createSend(options, { ...realTiming, random: () => 0, sleep, ...timing });
  return { ...makeResources(calls), pauses };
}
