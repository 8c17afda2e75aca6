import { systemClock, type Clock } from './clock.ts';
import { systemRandom, type Random } from './random.ts';

/** Time, ids and random numbers of the system. */
export const system: { readonly clock: Clock; readonly random: Random } = { clock: systemClock, random: systemRandom };
