import type { ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';
import type { Parameters } from '../content/generation-draft.ts';
import { parametersSummary } from '../content/generation-text.ts';
import { Disclosure } from '../editor/generation/disclosure.tsx';
import { ParameterFields } from '../editor/generation/parameter-fields.tsx';
import classes from './playground.module.css';

/** Parameters for these invocations only, instead of those that are saved. */
export function ParameterOverrides({
  saved,
  value,
  onChange,
}: {
  saved: Parameters;
  value: Parameters;
  onChange: (value: Parameters) => void;
}): ReactNode {
  const { generation, playground: texts } = useTexts().prompts;
  const summary = parametersSummary(value, generation);
  return (
    <div className={classes.overrides}>
      <Disclosure title={generation.parameters.title} summary={summary.join(' · ') || texts.asSaved}>
        <ParameterFields value={value} saved={saved} onChange={onChange} />
      </Disclosure>
    </div>
  );
}
