import type { GenerateRequest, ResponseFormat } from '../../models/language-model.ts';
import type { ResolvedPrompt } from '../prompts.ts';
import type { Provider } from '../../models/provider.ts';

/** What becomes known of a request: the version, and the provider and model that are called. */
export type Known =
  | {
      readonly prompt: string;
      /** Undefined for a draft. */
      readonly version: number | undefined;
      readonly slug: string;
      /** That the request names. */
      readonly label: string | undefined;
      /** How the label decided on the version; undefined without a canary. */
      readonly canary: ResolvedPrompt['canary'];
      /** Of which invocations the prompt allows to keep the content; undefined if it does not say. */
      readonly contentMode: ResolvedPrompt['invocationContent'];
    }
  | { readonly provider: string; readonly model: string };

/** A provider, and the whole request to it. */
export interface Target {
  readonly provider: Provider;
  readonly request: GenerateRequest;
  /** What the answer is checked against, if the provider cannot be told all of it. */
  readonly answerFormat?: ResponseFormat;
}

/** What is sent to whom. Everything is checked, and nothing was spent. */
export interface Plan {
  /** Absent if the request does not use a stored prompt. */
  readonly prompt?: { readonly id: string; readonly version: number };
  /** At least one: the selected target, then the fallbacks in their order. No two are the same. */
  readonly targets: readonly Target[];
  /** How often a call is repeated that may have been billed; 0 if left out. */
  readonly retries?: number | undefined;
  /**
   * Whether answers that have to be JSON are read, and checked against their schema. A format of OpenAI's APIs is not
   * checked: the caller gets what came. Answers that can be cached always are.
   */
  readonly checksAnswers: boolean;
  /** The limit of output tokens that a budget gives to some of the targets, which would have none. */
  readonly assumedOutputTokens?: number | undefined;
  /** The supplied values that a stored prompt uses, by name. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  /** How many of the messages are those of the stored prompt. They come first. */
  readonly promptMessages?: number | undefined;
  /** Names of supplied variables that the prompt does not declare or use. */
  readonly unknownVariables: readonly string[];
}
