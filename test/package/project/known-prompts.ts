import type { PromptGateway } from 'prompt-gateway-client';

/** Compiled with the file that `prompt-gateway-client types` wrote. */
export function calls(gateway: PromptGateway): void {
  void gateway.prompts.invoke('greeter', { variables: { name: 'Ada' } });
  void gateway.prompts.invoke('greeter', { variables: { name: ['Ada', 'Grace'], tone: null } });
  // @ts-expect-error the variable `name` is missing
  void gateway.prompts.invoke('greeter', { variables: { tone: 'warm' } });
  // @ts-expect-error the variable `name` is misspelt
  void gateway.prompts.invoke('greeter', { variables: { name: 'Ada', tune: 'warm' } });
  // @ts-expect-error a required variable cannot be null
  void gateway.prompts.invoke('greeter', { variables: { name: null } });
  // @ts-expect-error the prompt has a required variable
  void gateway.prompts.invoke('greeter');
  // @ts-expect-error the prompt has no variables
  void gateway.prompts.invoke('no-variables', { variables: { name: 'Ada' } });
  void gateway.prompts.invoke('no-variables');
  // @ts-expect-error test runs take the same variables
  void gateway.testRuns.create('greeter', { providers: [{ provider: 'echo' }], variables: {} });
  void gateway.prompts.stream('greeter', { variables: { name: 'Ada' } });
  // @ts-expect-error streams take the same variables
  void gateway.prompts.stream('greeter', { variables: { tone: 'warm' } });
  void gateway.prompts.invoke('greeter', { label: 'production', variables: { title: 'Countess' } });
  void gateway.prompts.invoke('greeter', { version: 1, variables: { title: 'Countess' } });
}
