import { Alert, List } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ContentWarning } from 'prompt-gateway-client/template';
import type { ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';

/** The most that are listed. */
const shown = 20;

/** Probable mistakes in the content of a prompt, each with its place. */
export function ContentWarnings({ warnings }: { readonly warnings: readonly ContentWarning[] }): ReactNode {
  const { prompts } = useTexts();
  if (warnings.length === 0) return null;
  return (
    <Alert color="yellow" icon={<IconAlertTriangle />} title={prompts.editor.warnings(warnings.length)}>
      <List size="sm">
        {warnings.slice(0, shown).map(({ pointer, detail }, index) => (
          <List.Item key={index} style={{ overflowWrap: 'anywhere' }}>
            {placeIn(pointer, prompts)}: {detail}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

/** For people: the JSON Pointer names a message or a variable. */
function placeIn(pointer: string, texts: { messages: { label: (position: number) => string } }): string {
  const [, kind, which = ''] = pointer.replace(/^#/, '').split('/');
  return kind === 'messages' ? texts.messages.label(Number(which) + 1) : which;
}
