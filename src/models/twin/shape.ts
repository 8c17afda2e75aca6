import type { Content, GenerateRequest, Message } from '../language-model.ts';

/** What decides about support: the request without texts, and each kind of message once. */
export interface Shape {
  readonly request: GenerateRequest;
  /** Where each message of the shape is in the request. */
  readonly positions: readonly number[];
}

/** Conversations grow by messages of the same few kinds, so their shapes are soon known. */
export function toShape(request: GenerateRequest): Shape {
  const shapes = toMessageShapes(request.messages);
  const seen = new Set<string>();
  const positions = [...shapes.keys()].filter((index) => {
    const shape = shapes[index];
    if (hasImage(shape)) return true;
    const key = JSON.stringify(shape);
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew || index === shapes.length - 1;
  });
  const messages = positions.flatMap((index) => shapes[index] ?? []);
  return { request: { ...request, messages }, positions };
}

function hasImage(message: Message | undefined): boolean {
  return Array.isArray(message?.content) && message.content.some(({ type }: { type: string }) => type === 'image');
}

/** Ids of calls are numbered in each message; all calls are of one tool. */
function toMessageShapes(messages: readonly Message[]): Message[] {
  const ids = new Map<string, string>();
  return messages.map((message) => {
    const content = toContentShape(message.content);
    switch (message.role) {
      case 'tool':
        return { ...message, toolCallId: ids.get(message.toolCallId) ?? 'call0', toolName: 'tool', content: 'text' };
      case 'assistant': {
        const toolCalls = message.toolCalls?.map(({ id }, index) => {
          ids.set(id, `call${index}`);
          return { id: `call${index}`, name: 'tool', arguments: '{}' };
        });
        return { role: message.role, content, ...(toolCalls && { toolCalls }) };
      }
      default:
        return { role: message.role, content };
    }
  });
}

/** The content without the data of images. @param toText what stands for a text */
export function toContentShape(content: Content, toText: (text: string) => string = () => 'text'): Content {
  if (typeof content === 'string') return toText(content);
  return content.map((part) => {
    if (part.type === 'text') return { type: 'text', text: toText(part.text) };
    const [head = part.url] = /^data:[^,]*,/.exec(part.url) ?? [];
    return { type: 'image', url: head === part.url ? part.url : `${head}iVBORw0KGgo=` };
  });
}
