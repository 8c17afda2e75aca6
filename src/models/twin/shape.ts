import type { AnswerPart, Content, GenerateRequest, ImagePart, Message } from '../language-model.ts';

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
    switch (message.role) {
      case 'tool': {
        const toolCallId = ids.get(message.toolCallId) ?? 'call0';
        return { ...message, toolCallId, toolName: 'tool', content: toContentShape(message.content) };
      }
      case 'assistant': {
        const { role, content } = message;
        if (typeof content === 'string') return { role, content: 'text' };
        let calls = 0;
        const parts = content.map((part) => {
          if (part.type !== 'tool-call') return toPartShape(part);
          const id = `call${calls++}`;
          ids.set(part.id, id);
          return { type: part.type, id, name: 'tool', arguments: '{}' };
        });
        return { role, content: parts };
      }
      default:
        return { role: message.role, content: toContentShape(message.content) };
    }
  });
}

/** The content without the data of images. @param toText what stands for a text */
export function toContentShape(content: Content, toText: (text: string) => string = () => 'text'): Content {
  return typeof content === 'string' ? toText(content) : content.map((part) => toPartShape(part, toText));
}

/** A part of a content, likewise. Thinking decides nothing about support. */
export function toPartShape<Part extends AnswerPart | ImagePart>(
  part: Part,
  toText: (text: string) => string = () => 'text',
): Part {
  switch (part.type) {
    case 'text':
      return { ...part, text: toText(part.text) };
    case 'image': {
      const [head = part.url] = /^data:[^,]*,/i.exec(part.url) ?? [];
      return { ...part, url: head === part.url ? part.url : `${head}iVBORw0KGgo=` };
    }
    case 'thinking':
      return { ...part, text: '', provider_metadata: undefined };
    case 'tool-call':
      return part;
  }
}
