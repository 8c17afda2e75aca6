import type { PromptGateway } from 'prompt-gateway-client';

/** Compiled with the file that `prompt-gateway-client types` wrote. */
export function calls(gateway: PromptGateway): void {
  void gateway.prompts.invoke('not-in-the-file', { variables: { any: 'Ada' } });
}
