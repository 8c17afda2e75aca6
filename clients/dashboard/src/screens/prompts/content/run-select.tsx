import { NativeSelect } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';
import { versionNumber, versionOptions } from './version-options.ts';

/** What of a prompt runs: a version, or the one that a label names; the latest without both. */
export interface RunChoice {
  readonly version?: number | undefined;
  readonly label?: string | undefined;
}

/** The number of the version that a choice means now; `undefined` is the latest. */
export function chosenVersion({ version, label }: RunChoice, { labels = {} }: Schemas['Prompt']): number | undefined {
  return label === undefined ? version : labels[label];
}

/** The members of a request that say what runs. */
export function runMembers({ version, label }: RunChoice): { version?: number; label?: string } {
  return { ...(version !== undefined && { version }), ...(label !== undefined && { label }) };
}

/** Chooses what of a prompt runs. */
export function RunSelect({
  name,
  prompt: { version: newest, labels = {} },
  value: { version, label },
  latest = '',
  onChange,
}: {
  /** Of the field, if it is not simply the version. */
  name?: string;
  prompt: Schemas['Prompt'];
  value: RunChoice;
  /** What runs without a version and a label, if it is not the latest version. */
  latest?: string;
  onChange: (value: RunChoice) => void;
}): ReactNode {
  const { prompts, labels: texts } = useTexts();
  const named = Object.entries(labels).map(([own, one]) => ({ value: own, label: texts.badge(own, one) }));
  // What is chosen stays selectable, also if someone else deletes it.
  if (label !== undefined && labels[label] === undefined) named.push({ value: label, label });
  return (
    <NativeSelect
      label={name ?? prompts.playground.version}
      // A label begins with a letter.
      value={label ?? String(version ?? '')}
      data={[
        { value: '', label: latest || prompts.playground.latest(newest) },
        ...(named.length > 0 ? [{ group: texts.run.labels, items: named }] : []),
        { group: texts.run.versions, items: versionOptions(newest, version, prompts.history.version) },
      ]}
      onChange={(event) => {
        const { value } = event.currentTarget;
        const number = versionNumber(value);
        onChange(number !== undefined ? { version: number } : value === '' ? {} : { label: value });
      }}
    />
  );
}
