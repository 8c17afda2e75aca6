import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { textOf, type Message } from './generation.ts';

/** Converts rendered messages to the AI SDK's prompt, in the order given. */
export function toPrompt(messages: readonly Message[]): LanguageModelV4Prompt {
  return messages.map(toPromptMessage);
}

/**
 * Like `toPrompt`, for providers whose API separates the system instruction from the conversation. They refuse system
 * messages within the conversation, and conversations without a user message. All system messages move to the front, in
 * their order; if there are no others, the last of them becomes a user message.
 */
export function toPromptWithSystemFirst(messages: readonly Message[]): LanguageModelV4Prompt {
  const system = messages.filter((message) => message.role === 'system');
  const conversation = messages.filter((message) => message.role !== 'system');
  if (conversation.length === 0) {
    const turn = system.pop();
    if (turn !== undefined) conversation.push({ role: 'user', content: textOf(turn) });
  }
  return toPrompt([...system, ...conversation]);
}

function toPromptMessage(message: Message): LanguageModelV4Message {
  const text = textOf(message);
  if (message.role === 'system' || message.role === 'developer') return { role: 'system', content: text };
  if (message.role !== 'tool') return { role: message.role, content: [{ type: 'text', text }] };
  const { toolCallId, toolName } = message;
  return {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: text } }],
  };
}
