import type { GatewayOptions } from '../../clients/typescript/src/gateway-options.ts';
import type { Resources } from '../../clients/typescript/src/generated/resources.ts';
import { makeResources } from '../../clients/typescript/src/resources.ts';
import { createSend } from '../../clients/typescript/src/send.ts';
import { realTiming, type Timing } from '../../clients/typescript/src/timing.ts';

export interface ImpatientGateway extends Resources {
  /** The pauses that the client wanted to make, in milliseconds. */
  readonly pauses: readonly number[];
}

/** The methods of a gateway that makes no pauses between its attempts and notes how long they would have been. */
export function createImpatientGateway(options: GatewayOptions, timing: Partial<Timing> = {}): ImpatientGateway {
  const pauses: number[] = [];
  const sleep: Timing['sleep'] = async (ms, signal) => {
    signal?.throwIfAborted();
    pauses.push(ms);
    await Promise.resolve();
  };
  const { send } = createSend(options, { ...realTiming, random: () => 0, sleep, ...timing });
  return { ...makeResources(send), pauses };
}
