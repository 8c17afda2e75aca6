import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { TextLink } from '../../../shared/links.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { useKeyNames, usePeopleNames } from '../../../shared/use-authors.ts';
import { usePromptNames } from './queries.ts';

/** The calls that a budget counts, as a link to their key or prompt, or to the invocations with their tag. */
export function BudgetScope({ scope }: { scope: Schemas['BudgetScope'] }): ReactNode {
  const { budgets: texts } = useTexts().costs;
  const keys = useKeyNames().data;
  const people = usePeopleNames().data;
  const prompts = usePromptNames().data;
  const canReadPrompts = useScope('prompts:read');
  const { key_id: keyId, prompt_id: promptId, tag } = scope;
  if (keyId !== undefined) {
    const key = keys?.find(({ id }) => id === keyId);
    const person = people?.find(({ id }) => id === keyId);
    if (person !== undefined) {
      return (
        <>
          {texts.ofPerson}{' '}
          <TextLink to="/people/$id" params={{ id: keyId }} size="sm" underline="always">
            {person.name}
          </TextLink>
        </>
      );
    }
    return (
      <>
        {texts.ofKey}{' '}
        {key === undefined ? (
          <TextLink to="/invocations" search={{ author_id: keyId }} size="sm" underline="always">
            {keyId}
          </TextLink>
        ) : (
          <TextLink to="/api-keys/$id/edit" params={{ id: keyId }} size="sm" underline="always">
            {key.name}
          </TextLink>
        )}
      </>
    );
  }
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
