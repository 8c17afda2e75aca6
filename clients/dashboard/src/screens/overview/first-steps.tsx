import type { LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { LinkButton } from '../../shared/links.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { StepsPanel } from '../../shared/steps-panel.tsx';
import { useTexts } from '../../shared/texts.tsx';
import type { FirstSteps, StepName } from './use-first-steps.ts';

const targets: Record<StepName, NonNullable<LinkProps['to']>> = {
  integration: '/integrations/new',
  location: '/locations/new',
  prompt: '/prompts/new',
  apiKey: '/api-keys/new',
};

/** What to do in a new installation. The next step has the accent. */
export function FirstStepsPanel({ steps, error, retry }: FirstSteps): ReactNode {
  const { steps: texts } = useTexts().overview;
  const next = steps.find(({ isDone }) => isDone === false)?.name;
  return (
    <StepsPanel
      title={texts.title}
      text={texts.text}
      steps={steps.map(({ name, isDone = false }) => ({
        name,
        isDone,
        title: texts[name].title,
        text: texts[name].text,
        action: (
          <LinkButton to={targets[name]} variant={name === next ? 'filled' : 'default'}>
            {texts[name].action}
          </LinkButton>
        ),
      }))}
    >
      {error !== undefined && <ProblemAlert error={error} onRetry={retry} />}
    </StepsPanel>
  );
}
