import { Alert, Button, Group, List, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { AskButton } from '../../shared/ask-button.tsx';
import { CodeBlock } from '../../shared/code-block.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { Section } from '../../shared/section.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { contentKey, invocationsKey, useContent } from './queries.ts';

/** What was asked and answered. It is read only when someone asks for it, because each reading is recorded. */
export function ContentSection({ invocation }: { invocation: Schemas['Invocation'] }): ReactNode {
  const { content: texts } = useTexts().invocations;
  const { id, content_kept: isKept = false, tags } = invocation;
  const isAllowed = useScope('invocations:content');
  const [isAsked, setAsked] = useState(false);
  const read = useContent(isAsked ? id : undefined);
  if (!isKept && tags === undefined) return null;
  return (
    <Section title={texts.title}>
      {!isKept && <Text c="dimmed">{texts.notKept}</Text>}
      {isKept && !isAllowed && <Text c="dimmed">{texts.missingScope}</Text>}
      {read.data === undefined ? (
        isKept && isAllowed && <Text c="dimmed">{texts.recorded}</Text>
      ) : (
        <Content content={read.data} />
      )}
      {read.error !== null && <ProblemAlert error={read.error} />}
      {isAllowed && (
        <Group gap="xs" justify="space-between">
          {isKept && read.data === undefined && (
            <Button
              variant="default"
              loading={read.isFetching}
              onClick={() => {
                if (isAsked) void read.refetch();
                setAsked(true);
              }}
            >
              {texts.read}
            </Button>
          )}
          <EraseButton
            invocation={invocation}
            onErased={() => {
              setAsked(false);
            }}
          />
        </Group>
      )}
    </Section>
  );
}

function Content({ content }: { content: Schemas['KeptContent'] }): ReactNode {
  const { content: texts } = useTexts().invocations;
  const { messages, answer, truncated = false, ...request } = content;
  return (
    <Stack gap="sm">
      {truncated && <Alert color="gray">{texts.truncated}</Alert>}
      {messages.map(({ role, content: parts }, index) => (
        <Said key={index} who={role} parts={parts} />
      ))}
      {answer !== undefined && (
        <Said
          who={texts.answer}
          parts={[
            ...answer.content,
            ...(answer.refusal === undefined ? [] : [{ type: 'text' as const, text: answer.refusal }]),
          ]}
        />
      )}
      {Object.keys(request).length > 0 && (
        <CodeBlock code={JSON.stringify(request, null, 2)} label={texts.request} maxHeight={240} />
      )}
    </Stack>
  );
}

function Said({ who, parts }: { who: string; parts: Schemas['KeptPart'][] }): ReactNode {
  return (
    <div>
      <Text size="sm" fw={500}>
        {who}
      </Text>
      {parts.map(({ text = '', url, name, arguments: sent }, index) =>
        name === undefined ? (
          <CodeBlock key={index} code={url === undefined ? text : `[${url}]`} label={who} />
        ) : (
          <CodeBlock key={index} code={`${name}(${sent})`} label={name} maxHeight={160} />
        ),
      )}
    </div>
  );
}

function EraseButton({
  invocation: { id, content_kept: isKept = false, tags = {}, feedback = [] },
  onErased,
}: {
  invocation: Schemas['Invocation'];
  onErased: () => void;
}): ReactNode {
  const tagged = Object.entries(tags).map(([name, value]) => `${name}=${value}`);
  const comments = feedback.filter(({ comment }) => comment !== undefined).length;
  const { content: texts } = useTexts().invocations;
  const queryClient = useQueryClient();
  return (
    <AskButton
      action={texts.erase}
      variant="subtle"
      color="red"
      title={texts.eraseTitle}
      text={
        <>
          {texts.erased.intro}
          <List>
            {isKept && <List.Item>{texts.erased.texts}</List.Item>}
            {tagged.length > 0 && <List.Item>{texts.erased.tags(tagged)}</List.Item>}
            {comments > 0 && <List.Item>{texts.erased.comments(comments)}</List.Item>}
          </List>
          {texts.erased.rest}
        </>
      }
      confirm={texts.erase}
      isDangerous
      send={() => gateway.invocations.deleteContent(id)}
      onDone={() => {
        onErased();
        queryClient.removeQueries({ queryKey: contentKey(id) });
        queryClient.setQueryData<Schemas['Invocation']>([...invocationsKey, id], withoutContent);
        return texts.erased.done;
      }}
    />
  );
}

/** What is left of a record. */
function withoutContent(invocation: Schemas['Invocation'] | undefined): Schemas['Invocation'] | undefined {
  if (invocation === undefined) return undefined;
  const { tags: _tags, content_kept: _kept, feedback = [], ...rest } = invocation;
  const scores = feedback.map(({ comment: _comment, ...score }) => score);
  return { ...rest, ...(scores.length > 0 && { feedback: scores }) };
}
