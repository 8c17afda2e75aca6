/**
 * Calls of tools as APIs have them that know no thinking: what the model thought right before a call is in the `reasoning`
 * of its `provider_metadata`, if the provider needs it back.
 */
import { isObject } from '../../base/runtime/objects.ts';
import type {
  AnswerPart,
  GenerateEvent,
  ImagePart,
  JsonObject,
  ThinkingPart,
  ToolCall,
  ToolCallPart,
} from '../../models/language-model.ts';

/** Makes calls flat, in the order of an answer. */
export class CallFlattener {
  #thinking: ThinkingPart[] = [];
  #text = '';

  /** An event of a stream. @returns a call that ends with it */
  take(event: Exclude<GenerateEvent, { readonly type: 'finish' }>): ToolCall | undefined {
    if (event.type === 'thinking') this.#text += event.delta;
    else if (event.type === 'thinking-end') {
      const { type: _type, ...metadata } = event;
      this.add({ type: 'thinking', text: this.#text, ...metadata });
      this.#text = '';
    }
    return event.type === 'tool-call' ? this.add(event) : undefined;
  }

  /** @returns the call, if the part is one */
  add(part: AnswerPart | ImagePart): ToolCall | undefined {
    if (part.type === 'thinking' && part.provider_metadata !== undefined) this.#thinking.push(part);
    return part.type === 'tool-call' ? this.flatten(part) : undefined;
  }

  /** @returns the call, with the thinking that was added since the last one */
  flatten({ id, name, arguments: text, provider_metadata: metadata }: ToolCallPart): ToolCall {
    const [first] = this.#thinking;
    const reasoning = this.#thinking.map(({ text: thought, provider_metadata: { signature } = {} }) => ({
      text: thought,
      ...(signature !== undefined && { signature }),
    }));
    this.#thinking = [];
    const call = { id, name, arguments: text };
    if (first === undefined) return metadata === undefined ? call : { ...call, provider_metadata: metadata };
    const { provider = metadata?.['provider'] } = first.provider_metadata ?? {};
    return {
      ...call,
      provider_metadata: { ...(provider !== undefined && { provider }), ...metadata, reasoning } as JsonObject,
    };
  }
}

/** The flat calls of a message or an answer. */
export function flatCallsOf({
  content,
}: {
  readonly content: string | readonly (AnswerPart | ImagePart)[];
}): ToolCall[] {
  if (typeof content === 'string') return [];
  const flattener = new CallFlattener();
  return content.flatMap((part) => flattener.add(part) ?? []);
}

/** What an assistant said, with the calls that followed. Thinking before the first call came before the text. */
export function withFlatCalls(
  content: string | readonly (AnswerPart | ImagePart)[],
  calls: readonly ToolCall[],
): string | readonly (AnswerPart | ImagePart)[] {
  if (calls.length === 0) return content;
  const [first = [], ...others] = calls.map(partsOf);
  const said = typeof content !== 'string' ? content : content === '' ? [] : [{ type: 'text' as const, text: content }];
  if (said.some(({ type }) => type === 'tool-call')) return [...said, ...first, ...others.flat()];
  return [...first.slice(0, -1), ...said, ...first.slice(-1), ...others.flat()];
}

/** The thinking before a call, and the call. */
function partsOf({ provider_metadata: metadata, ...call }: ToolCall): AnswerPart[] {
  if (metadata === undefined) return [{ type: 'tool-call', ...call }];
  const { reasoning, ...own } = metadata;
  const { provider } = own;
  const thinking = (Array.isArray(reasoning) ? (reasoning as unknown[]) : []).flatMap((thought): ThinkingPart[] => {
    if (!isObject(thought) || typeof thought['text'] !== 'string') return [];
    const { text, signature } = thought;
    const needed = { ...(provider !== undefined && { provider }), ...(isObject(signature) && { signature }) };
    return [{ type: 'thinking', text, provider_metadata: needed as JsonObject }];
  });
  const isNeeded = Object.keys(own).some((name) => name !== 'provider');
  return [...thinking, { type: 'tool-call', ...call, ...(isNeeded && { provider_metadata: own }) }];
}
