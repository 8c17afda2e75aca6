import { shown, threadFinding, type CheckType } from '../check-type.ts';

/** The answer calls tools, each one of the prompt, with arguments that match its schema. */
export const isValidOpenaiToolsCall: CheckType = {
  takes: 'nothing',
  async find({ answer, runtime }) {
    if (answer.toolCalls.length === 0) return { holds: false, reason: 'The answer calls no tool.' };
    for (const call of answer.toolCalls) {
      const tool = answer.tools.find(({ name }) => name === call.name);
      if (tool === undefined) return { holds: false, reason: `${shown(call.name)} is not a tool of the prompt.` };
      const result = await runtime.check({ text: call.arguments, schema: tool.parameters });
      const found = threadFinding({ name: `The call of ${shown(call.name)}` }, result, 'match');
      if (!found.holds) return found;
    }
    return { holds: true, reason: 'The answer calls tools of the prompt, with arguments that match their schemas.' };
  },
};
