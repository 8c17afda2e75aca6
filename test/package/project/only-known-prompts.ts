import type { PromptGateway } from 'prompt-gateway-client';

/** Compiled with the file that `prompt-gateway-client types --only-known` wrote. */
export function calls(gateway: PromptGateway): void {
  void gateway.prompts.invoke('greeter', { variables: { name: 'Ada' } });
  // @ts-expect-error the prompt is not in the file
  void gateway.prompts.invoke('not-in-the-file', { variables: { any: 'Ada' } });
}
