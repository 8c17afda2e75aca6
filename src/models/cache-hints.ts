/**
 * Hints for the providers' own caches. They change what a call costs, not what it answers: a provider that has no place
 * for a hint gets the request without it, and the service's answer cache does not see them.
 */
import { defined } from '../base/runtime/objects.ts';
import type { CacheHint, GenerateRequest, JsonObject, Message, Tool } from './language-model.ts';
import type { Dialect } from './vendors/vendor.ts';

/** Options of providers that are such hints, in every spelling of the packages. */
const hintOptions: ReadonlySet<string> = new Set([
  'cacheControl',
  'cache_control',
  'promptCacheKey',
  'promptCacheOptions',
  'prompt_cache_key',
  'prompt_cache_options',
]);

/** Whether a member of a request's body is a hint, so that a provider without it may get the request without it. */
export function isHintOption(name: string): boolean {
  return hintOptions.has(name);
}

/** A place in a request after which its beginning may be kept. */
interface Breakpoint {
  /** A JSON pointer without its first slash, such as `tools/0/cache_control`. */
  readonly member: string;
  readonly control: CacheHint;
  /** What has it. */
  readonly holder: 'tool' | 'call' | 'part';
}

/** The breakpoints of a request in the order of the providers: tools, then messages. */
function breakpointsOf({ tools = [], messages }: Pick<GenerateRequest, 'tools' | 'messages'>): Breakpoint[] {
  const found: Breakpoint[] = [];
  const add = (place: string, control: CacheHint | undefined, holder: Breakpoint['holder']): void => {
    if (control !== undefined) found.push({ member: `${place}/cache_control`, control, holder });
  };
  for (const [index, tool] of tools.entries()) add(`tools/${index}`, tool.cache_control, 'tool');
  for (const [index, message] of messages.entries()) {
    if (typeof message.content === 'string') continue;
    const parts = [...message.content.entries()].filter(([, part]) => 'cache_control' in part && part.cache_control);
    // The texts of a result are one, with the last hint.
    for (const [at, part] of message.role === 'tool' ? parts.slice(-1) : parts) {
      const holder = part.type === 'tool-call' ? 'call' : 'part';
      if ('cache_control' in part) add(`messages/${index}/content/${at}`, part.cache_control, holder);
    }
  }
  return found;
}

/** The breakpoints that a provider has no place for. */
export function lostBreakpoints(request: GenerateRequest, { promptCache }: Dialect): Breakpoint[] {
  return breakpointsOf(request).filter(
    ({ control, holder }) =>
      promptCache?.toOptions(control, request.model) === undefined ||
      (holder === 'tool' && !promptCache.takesTools) ||
      (holder === 'call' && !promptCache.takesCalls),
  );
}

/** The breakpoints beyond those that a provider takes in one call. */
export function excessBreakpoints(request: GenerateRequest, dialect: Dialect): Breakpoint[] {
  const { promptCache: { most = Infinity } = {} } = dialect;
  // An option of Anthropic sets one more.
  const { providerOptions = {} } = request;
  const free = 'cacheControl' in providerOptions ? most - 1 : most;
  const all = breakpointsOf(request);
  if (all.length <= free) return [];
  const lost = new Set(lostBreakpoints(request, dialect).map(({ member }) => member));
  return all.filter(({ member }) => !lost.has(member)).slice(free);
}

/** The request without its hints: the same object if it has none. */
export function withoutCacheHints(request: GenerateRequest): GenerateRequest {
  const { messages, tools, providerOptions } = request;
  const hasOptions = providerOptions !== undefined && Object.keys(providerOptions).some(isHintOption);
  const hasBreakpoints = messages.some(hasBreakpoint) || tools?.some(({ cache_control: control }) => control);
  if (!hasOptions && !hasBreakpoints) return request;
  return defined({
    ...request,
    messages: messages.map((message) => (hasBreakpoint(message) ? withoutBreakpoints(message) : message)),
    tools: tools?.map(({ cache_control: _control, ...tool }): Tool => tool),
    providerOptions: hasOptions ? withoutHintOptions(providerOptions) : providerOptions,
  });
}

function hasBreakpoint({ content }: Message): boolean {
  return typeof content !== 'string' && content.some((part) => 'cache_control' in part);
}

function withoutBreakpoints(message: Message): Message {
  if (typeof message.content === 'string') return message;
  const content = message.content.map((part) => {
    if (!('cache_control' in part)) return part;
    const { cache_control: _control, ...rest } = part;
    return rest;
  });
  return { ...message, content } as Message;
}

function withoutHintOptions(options: JsonObject): JsonObject | undefined {
  const others = Object.entries(options).filter(([name]) => !isHintOption(name));
  return others.length === 0 ? undefined : Object.fromEntries(others);
}
