import { NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';

/** Yes, no, or what the provider does by itself. */
export function TriStateField({
  label,
  value,
  unset,
  mistake,
  isReadOnly,
  onChange,
}: {
  label: string;
  value: boolean | undefined;
  /** What no choice means; the provider's default if left out. */
  unset?: string | undefined;
  mistake?: string | undefined;
  isReadOnly: boolean;
  onChange: (value: boolean | undefined) => void;
}): ReactNode {
  const texts = useTexts().prompts.generation;
  return (
    <NativeSelect
      size="xs"
      label={label}
      disabled={isReadOnly}
      value={value === undefined ? '' : String(value)}
      error={mistake}
      data={[
        { value: '', label: unset ?? texts.providerDefault },
        { value: 'true', label: texts.yes },
        { value: 'false', label: texts.no },
      ]}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        onChange(chosen === '' ? undefined : chosen === 'true');
      }}
    />
  );
}
