import type { operations } from '../../../generated/types.ts';
import { withAssumedLimit } from '../generation/output-limit.ts';
import { flatCallsOf } from '../generation/flat-calls.ts';
import type { Preview, PreviewedTarget } from '../generation/planner.ts';
import { assumedLimitWarnings, unknownVariableWarnings } from '../generation/render-prompt.ts';
import type { Message } from '../../models/language-model.ts';
import { contentWarnings, usedVariables } from '../templates/warnings.ts';
import { defined } from '../../base/runtime/objects.ts';

type RenderedPrompt = operations['renderPrompt']['responses'][200]['content']['application/json'];

/**
 * The contract's representation of what would be sent.
 * @param assumed limit of output tokens that budgets want for a provider that would get none
 */
export async function toRenderedPrompt(
  { prompt, content, limits: planned, unknownVariables }: Preview,
  assumed: number | undefined,
): Promise<RenderedPrompt> {
  const limits =
    assumed === undefined
      ? planned
      : await Promise.all(
          planned.map(async (limit) => ({ ...limit, target: await withAssumedLimit(limit.target, assumed) })),
        );
  const isAssumed = limits.some(({ target }, index) => target !== planned[index]?.target);
  const { messages = [], parameters, responseFormat, tools, toolChoice } = limits[0]?.target.request ?? {};
  const warnings = [
    ...contentWarnings(content).filter(({ code }) => code === 'not-a-placeholder'),
    ...assumedLimitWarnings(isAssumed ? assumed : undefined),
    ...(unknownVariableWarnings(unknownVariables).warnings ?? []),
  ];
  // The members are the same JSON; the generated types do not know that they are not changed.
  const generation = defined({ parameters, response_format: responseFormat, tools, tool_choice: toolChoice }) as Pick<
    RenderedPrompt,
    'parameters' | 'response_format' | 'tools' | 'tool_choice'
  >;
  return {
    prompt_id: prompt.id,
    version: prompt.version,
    targets: limits.map(toTarget),
    messages: messages.map(toMessage),
    ...generation,
    variables: usedVariables(content.messages),
    ...(warnings.length > 0 && { warnings }),
  };
}

function toTarget({
  target: { provider, request },
  unsupported,
  rewritten,
}: PreviewedTarget): RenderedPrompt['targets'][number] {
  const { model, providerOptions } = request;
  return {
    provider: provider.id,
    model,
    ...(providerOptions !== undefined && { provider_options: { ...providerOptions } }),
    ...(unsupported.length > 0 && { unsupported: unsupported.map(({ member, detail }) => ({ member, detail })) }),
    ...(rewritten.length > 0 && { rewritten: rewritten.map(({ member, detail }) => ({ member, detail })) }),
  };
}

function toMessage(message: Message): RenderedPrompt['messages'][number] {
  const { role } = message;
  const content = toContent(message.content);
  const calls = message.role === 'assistant' ? flatCallsOf(message) : [];
  return {
    role,
    content,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(message.role === 'tool' && { tool_call_id: message.toolCallId, ...(message.isError && { is_error: true }) }),
  };
}

/** A single text is a string, whether the prompt has it as a string or as a part. */
function toContent(content: Message['content']): RenderedPrompt['messages'][number]['content'] {
  if (typeof content === 'string') return content;
  const parts = content.flatMap((part) => (part.type === 'text' || part.type === 'image' ? [{ ...part }] : []));
  const [first] = parts;
  if (parts.length > 1 || first?.type === 'image' || first?.cache_control !== undefined) return parts;
  return first?.text ?? '';
}
