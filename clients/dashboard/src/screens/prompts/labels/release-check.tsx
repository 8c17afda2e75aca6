import { Checkbox } from '@mantine/core';
import { contentWarnings, releaseWarnings } from 'prompt-gateway-client/template';
import { useState, type ReactNode } from 'react';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { ContentWarnings } from '../content/content-warnings.tsx';
import { useVersion } from '../prompt-queries.ts';
import { GateCheck } from './gate-check.tsx';
import { useGatedVersion, useGates } from './gate-queries.ts';

/** What stands between a version and those who invoke by a label. */
export interface ReleaseCheck {
  /** Whether something has to be accepted, shown or justified first. */
  readonly isBlocked: boolean;
  /** Whether the gate does not let it in, and nobody says why it shall be released all the same. */
  readonly isGateClosed: boolean;
  /** What the request says of it. */
  readonly members: { readonly accept_warnings?: true; readonly override?: string };
  /** What is probably wrong in the version, and how it is accepted. */
  readonly content: ReactNode;
  /** What it breaks for callers. */
  readonly breaking: ReactNode;
  /** What the gate says, and how it is overridden. */
  readonly gate: ReactNode;
}

/**
 * Checks a version before a label names it, or a share of its invocations runs it.
 *
 * @param options.from the version that the label names; nothing is asked of this one itself
 * @param options.isGateAsked false where the gate has let the version in before
 */
export function useReleaseCheck({
  promptId,
  name,
  version,
  from,
  isGateAsked = true,
}: {
  promptId: string;
  name: string;
  version: number;
  from: number | undefined;
  isGateAsked?: boolean;
}): ReleaseCheck {
  const { form: texts } = useTexts().labels;
  const [accepted, setAccepted] = useState<number>();
  const [override, setOverride] = useState('');
  const { data: content } = useVersion(promptId, version);
  const { data: former } = useVersion(promptId, from);
  const warnings = content === undefined ? [] : contentWarnings(content);
  const mustAccept = warnings.some(({ code }) => code === 'not-a-placeholder');
  const isAccepted = mustAccept && accepted === version;
  const gates = useGates(promptId);
  const gate = isGateAsked ? gates.data?.find(({ label }) => label === name) : undefined;
  const gated = useGatedVersion(promptId, name, version, gate !== undefined);
  const isRefused = gate !== undefined && gated.data?.releasable !== true;
  const reason = isRefused ? override.trim() : '';
  const isGateClosed = isRefused && reason === '';
  const isSame = from === version;
  const breaking = former === undefined || content === undefined ? [] : releaseWarnings(former, content);
  return {
    isBlocked: (mustAccept && !isAccepted) || isGateClosed,
    isGateClosed,
    members: { ...(isAccepted && { accept_warnings: true as const }), ...(reason !== '' && { override: reason }) },
    content: (
      <>
        <ContentWarnings warnings={warnings} />
        {mustAccept && !isSame && (
          <Checkbox
            label={texts.acceptWarnings(version)}
            checked={isAccepted}
            onChange={(event) => {
              setAccepted(event.currentTarget.checked ? version : undefined);
            }}
          />
        )}
      </>
    ),
    breaking: <ContentWarnings warnings={breaking} title={texts.breaking} />,
    gate: (
      <>
        {gate !== undefined && gated.data !== undefined && !isSame && (
          <GateCheck promptId={promptId} gate={gate} gated={gated.data} override={override} onOverride={setOverride} />
        )}
        {isGateAsked && gates.error !== null && (
          <ProblemAlert error={gates.error} onRetry={() => void gates.refetch()} />
        )}
        {gated.error !== null && <ProblemAlert error={gated.error} />}
      </>
    ),
  };
}
