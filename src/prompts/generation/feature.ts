import type { Logger } from 'pino';
import { createAnswerChecker } from '../../base/json-schema/answer-checker.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { createGenerator, type GeneratorDependencies } from './generator.ts';
import { createInvocations, type InvocationDependencies } from './prepare-invocation.ts';
import { createPlanner, type PlannerDependencies } from './planner.ts';
import { createResponseCache } from './response-cache.ts';

export type GenerationOptions = PlannerDependencies &
  Omit<GeneratorDependencies, 'cache' | 'checker'> &
  Pick<InvocationDependencies, 'invocations'> & {
    readonly clock: Clock;
    readonly log: Logger;
    /** Limit of the cache of answers, in bytes. */
    readonly cacheMaxBytes: number;
    /** The longest time of a check of an answer against its schema, in milliseconds. */
    readonly answerCheckMs: number | undefined;
  };

/** How answers are planned and generated, for every feature that needs one. */
export function createGeneration({ prompts, providers, answerCheckMs, ...options }: GenerationOptions) {
  const { invocations, clock, log, cacheMaxBytes } = options;
  const checker = createAnswerChecker({
    ...(answerCheckMs !== undefined && { timeoutMs: answerCheckMs }),
    onError: (error) => {
      log.warn({ error }, 'a check of an answer against its schema failed');
    },
  });
  const cache = createResponseCache(cacheMaxBytes, clock.monotonic);
  const generator = createGenerator({ ...options, cache, checker });
  return {
    planner: createPlanner({ prompts, providers }),
    generator,
    checker,
    prepare: createInvocations({ generator, invocations }),
    close: () => checker.close(),
  };
}
