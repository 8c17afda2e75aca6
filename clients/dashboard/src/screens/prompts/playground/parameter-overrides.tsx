import type { ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';
import { Disclosure } from '../generation/disclosure.tsx';
import { ParameterFields, parametersSummary, parametersTitle, type Parameters } from '../generation/parameters.tsx';
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
      <Disclosure title={parametersTitle(generation)} summary={summary.join(' · ') || texts.asSaved}>
        <ParameterFields value={value} saved={saved} onChange={onChange} />
      </Disclosure>
    </div>
  );
}
