import { setTimeout as sleep } from 'node:timers/promises';
import { figuresOf, type Scenario } from '../hostile-world.ts';

/** The baseline for the figures of the other scenarios. */
const undisturbed: Scenario = {
  name: 'undisturbed',
  about: 'no attack, for 5 s',
  async run(world) {
    const target = await world.startTarget();
    const watching = await world.watch(target);
    await sleep(5_000);
    return figuresOf(await watching.stop());
  },
};

export const scenarios: readonly Scenario[] = [undisturbed];
