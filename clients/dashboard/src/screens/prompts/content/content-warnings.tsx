import { Alert, List } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';
import type { Texts } from '../../../texts/en.ts';

/** The most that are listed. */
const shown = 20;

/** What is said about a place in the content of a prompt: a JSON Pointer as a URI fragment. */
interface Remark {
  readonly code: string;
  readonly pointer?: string;
  readonly detail: string;
}

/** Probable mistakes in the content of a prompt, or what a version changes for callers. */
export function ContentWarnings({
  warnings,
  title,
}: {
  readonly warnings: readonly Remark[];
  /** Else their number. */
  readonly title?: string;
}): ReactNode {
  const { prompts } = useTexts();
  if (warnings.length === 0) return null;
  return (
    <Alert color="yellow" icon={<IconAlertTriangle />} title={title ?? prompts.editor.warnings(warnings.length)}>
      <RemarkList remarks={warnings} />
    </Alert>
  );
}

/** Remarks, each with its place. */
export function RemarkList({ remarks }: { readonly remarks: readonly Remark[] }): ReactNode {
  const { prompts } = useTexts();
  if (remarks.length === 0) return null;
  return (
    <List size="sm">
      {remarks.slice(0, shown).map((remark, index) => (
        <List.Item key={index} style={{ overflowWrap: 'anywhere' }}>
          {remark.pointer !== undefined && `${placeIn(remark.pointer, prompts)}: `}
          {wordsFor(remark, prompts.editor.knownWarnings)}
        </List.Item>
      ))}
    </List>
  );
}

/** In the chosen language, if it has words for this code. Otherwise those of the service. */
function wordsFor({ code, detail }: Remark, known: Texts['prompts']['editor']['knownWarnings']): string {
  const words = known[code] ?? detail;
  return typeof words === 'string' ? words : words(/"((?:[^"\\]|\\.)*)"/.exec(detail)?.[1] ?? '');
}

/** For people: the JSON Pointer names a message, a variable, or another field and what is in it. */
function placeIn(pointer: string, texts: { messages: { label: (position: number) => string } }): string {
  const [, kind, which = ''] = pointer.split('/');
  if (kind === 'messages') return texts.messages.label(Number(which) + 1);
  return kind === 'variables' ? which : decodeURIComponent(pointer.slice('#/'.length));
}
