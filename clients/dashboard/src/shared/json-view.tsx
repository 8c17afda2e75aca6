import { Button, Stack } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { CodeBlock } from './code-block.tsx';
import { useTexts } from './texts.tsx';

/** Lines that are shown before the rest is folded. */
const foldedLines = 20;

/**
 * Shows a value as JSON, or a text that may be JSON; what is long is folded. A text is copied as it is.
 * @param label what it is, for screen readers
 */
export function JsonView({ value, label }: { value: unknown; label: string }): ReactNode {
  const { shared } = useTexts();
  const [isOpen, setIsOpen] = useState(false);
  const text = typeof value === 'string' ? pretty(value) : JSON.stringify(value, null, 2);
  const lines = text.split('\n');
  const isLong = lines.length > foldedLines + 5;
  return (
    <Stack gap={4} align="stretch">
      <CodeBlock
        code={isLong && !isOpen ? `${lines.slice(0, foldedLines).join('\n')}\n…` : text}
        copied={typeof value === 'string' ? value : text}
        label={label}
        maxHeight={isOpen ? 640 : 480}
      />
      {isLong && (
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          aria-expanded={isOpen}
          onClick={() => {
            setIsOpen(!isOpen);
          }}
        >
          {isOpen ? shared.hide : shared.show}
        </Button>
      )}
    </Stack>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
