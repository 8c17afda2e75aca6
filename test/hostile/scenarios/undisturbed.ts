import { setTimeout as sleep } from 'node:timers/promises';
import { figuresOf, type Scenario } from '../hostile-world.ts';

/** What the figures of the other scenarios are to be compared with. */
const undisturbed: Scenario = {
  name: 'undisturbed',
  about: 'nobody disturbs anybody, for 5 s',
  async run(world) {
    const target = await world.startTarget();
    const watching = await world.watch(target);
    await sleep(5_000);
    return figuresOf(await watching.stop());
  },
};

export const scenarios: readonly Scenario[] = [undisturbed];
