import { Text, TextInput, type TextInputProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { writeAmount } from '../../shared/money.ts';

/** A field for an amount in the main unit of a currency. */
export function AmountInput({ currency, ...props }: TextInputProps & { currency: string }): ReactNode {
  return (
    <TextInput
      inputMode="decimal"
      autoComplete="off"
      maxLength={20}
      placeholder={currency === '' ? undefined : writeAmount(0, currency)}
      rightSection={
        <Text size="xs" c="dimmed">
          {currency}
        </Text>
      }
      rightSectionWidth={48}
      {...props}
    />
  );
}
