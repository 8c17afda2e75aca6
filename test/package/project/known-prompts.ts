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
  // @ts-expect-error the prompt has no `colour` in its schema
  void gateway.prompts.invoke('classifier').then(({ object }) => object?.colour);
  void gateway.prompts.invoke('greeter', { label: 'production', variables: { title: 'Countess' } });
  void gateway.prompts.invoke('greeter', { version: 1, variables: { title: 'Countess' } });
}

/** The objects of a prompt have the type of its schema. */
export async function objects(gateway: PromptGateway): Promise<void> {
  const { object } = await gateway.prompts.invoke('classifier');
  const priority: 'low' | 'high' | undefined = object?.priority;
  const tags: string[] = object?.tags ?? [];
  const { object: streamed } = await gateway.prompts.stream('classifier', { variables: {} }).final();
  // @ts-expect-error `urgent` is not in the schema
  if (streamed?.priority === 'urgent') return;
  const other: unknown = (await gateway.prompts.invoke('classifier', { response_format: null })).object;
  // @ts-expect-error another version can have another schema
  void gateway.prompts.invoke('classifier', { version: 1 }).then(({ object: older }) => older?.priority);
  const changed = await gateway.prompts.invoke('classifier', { response_format: { type: 'json' } });
  // @ts-expect-error another format has another schema
  void changed.object?.priority;
  console.log(priority, tags, other);
}
