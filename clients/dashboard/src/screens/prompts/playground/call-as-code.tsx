import { SegmentedControl, Group, Stack, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { serviceUrl } from '../../../app/gateway.ts';
import { CodeBlock } from '../../../shared/code-block.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import type { JsonValue } from '../content/exact-json.ts';
import type { InvocationRequest } from '../workspace/use-invocations.ts';
import { curlOf, pythonOf, typeScriptOf } from './code-of-call.ts';

const writers = { curl: curlOf, typescript: typeScriptOf, python: pythonOf };

/** The call of the playground for other programs. The key is not in it: programs read it from their environment. */
export function CallAsCode({ slug, request }: { slug: string; request: InvocationRequest }): ReactNode {
  const { playground: texts } = useTexts().prompts;
  const [language, setLanguage] = useState<keyof typeof writers>('curl');
  const call = {
    baseUrl: serviceUrl.replace(/\/$/, ''),
    slug,
    body: request.body as Readonly<Record<string, JsonValue>>,
    cacheControl: request.cacheControl,
    isStreamed: request.isStreamed,
  };
  return (
    <Stack gap="xs" component="section" aria-label={texts.asCode}>
      <Group justify="space-between">
        <Text fw={600} size="sm">
          {texts.asCode}
        </Text>
        <SegmentedControl
          size="xs"
          aria-label={texts.asCode}
          value={language}
          data={[
            { value: 'curl', label: texts.curl },
            { value: 'typescript', label: texts.typeScript },
            { value: 'python', label: texts.python },
          ]}
          onChange={(chosen) => {
            setLanguage(chosen as keyof typeof writers);
          }}
        />
      </Group>
      <CodeBlock
        code={writers[language](call)}
        label={{ curl: texts.curl, typescript: texts.typeScript, python: texts.python }[language]}
      />
      <Text size="xs" c="dimmed">
        {texts.keyHint}
      </Text>
    </Stack>
  );
}
