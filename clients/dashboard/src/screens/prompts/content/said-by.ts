import type { Schemas } from 'prompt-gateway-client';

/** What an answer says: its text, else why the model refuses. */
export function saidBy({ text, refusal = '' }: Pick<Schemas['InvocationResult'], 'text' | 'refusal'>): string {
  return text === '' ? refusal : text;
}
