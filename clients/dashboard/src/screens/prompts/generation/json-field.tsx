import { Text } from '@mantine/core';
import { useId, type ReactNode } from 'react';
import { CodeEditor } from '../code/lazy-code.tsx';

/** A field for JSON, with its name above and what is wrong, or what it is for, below. */
export function JsonField({
  label,
  accessibleName = label,
  description,
  value,
  placeholder = '{}',
  mistake,
  isReadOnly,
  onChange,
}: {
  label: string;
  /** The name of the field where the label alone could mean several. */
  accessibleName?: string;
  description?: string;
  value: string;
  placeholder?: string;
  mistake: string | undefined;
  isReadOnly: boolean;
  onChange: (value: string) => void;
}): ReactNode {
  const hintId = useId();
  const hint = mistake ?? description;
  return (
    <div>
      <Text size="xs" fw={500} mb={4} aria-hidden>
        {label}
      </Text>
      <CodeEditor
        language="json"
        label={accessibleName}
        value={value}
        invalid={mistake !== undefined}
        describedBy={hint === undefined ? undefined : hintId}
        isReadOnly={isReadOnly}
        placeholder={placeholder}
        onChange={onChange}
      />
      {hint !== undefined && (
        <Text id={hintId} size="xs" mt={4} c={mistake === undefined ? 'dimmed' : 'var(--mantine-color-error)'}>
          {hint}
        </Text>
      )}
    </div>
  );
}
