import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { TextLink } from '../../../shared/links.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { useCaller } from '../../../shared/use-authors.ts';
import { usePromptNames } from './queries.ts';

/** The calls that a budget counts, as a link to their caller or prompt, or to the invocations with their tag. */
export function BudgetScope({ scope }: { scope: Schemas['BudgetScope'] }): ReactNode {
  const { budgets: texts } = useTexts().costs;
  const prompts = usePromptNames().data;
  const canReadPrompts = useScope('prompts:read');
  const { key_id: callerId, prompt_id: promptId, tag } = scope;
  if (callerId !== undefined) return <CallerScope id={callerId} />;
  if (promptId !== undefined) {
    const name = prompts?.find(({ id }) => id === promptId)?.name ?? promptId;
    return (
      <>
        {texts.ofPrompt}{' '}
        {canReadPrompts ? (
          <TextLink to="/prompts/$promptId" params={{ promptId }} size="sm" underline="always">
            {name}
          </TextLink>
        ) : (
          name
        )}
      </>
    );
  }
  if (tag === undefined) return texts.ofAll;
  return (
    <>
      {texts.ofTag}{' '}
      <TextLink to="/invocations" search={{ tag }} size="sm" underline="always">
        {tag}
      </TextLink>
    </>
  );
}

/** A person or an API key. */
function CallerScope({ id }: { id: string }): ReactNode {
  const { budgets: texts } = useTexts().costs;
  const { type, name = id } = useCaller(id) ?? {};
  const canSee = { person: useScope('people:manage'), key: useScope('keys:manage') && id !== 'administrator' };
  const link = { size: 'sm', underline: 'always' } as const;
  const words = type === 'person' ? texts.ofPerson : type === 'key' ? texts.ofKey : texts.ofCaller;
  return (
    <>
      {words}{' '}
      {type === 'person' && canSee.person ? (
        <TextLink to="/people/$id" params={{ id }} {...link}>
          {name}
        </TextLink>
      ) : type === 'key' && canSee.key ? (
        <TextLink to="/api-keys/$id/edit" params={{ id }} {...link}>
          {name}
        </TextLink>
      ) : (
        <TextLink to="/invocations" search={{ author_id: id }} {...link}>
          {name}
        </TextLink>
      )}
    </>
  );
}
