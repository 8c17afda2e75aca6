import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { StatusBadge } from '../../shared/status-badge.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import { problemName } from '../invocations/queries.ts';
import { Panel, PanelList, PanelNote, PanelRow } from './panel.tsx';
import { mostFailedCalls, useFailedCalls, useRefusingBudgets } from './queries.ts';

type Invocation = Schemas['Invocation'];

const mostShown = 5;

/** Invocations that failed for the same reason: a provider's, or that of a prompt's callers. */
interface Group {
  readonly problem: string;
  readonly provider: string | undefined;
  readonly promptId: string | undefined;
  /** The newest first. */
  readonly failed: readonly Invocation[];
}

/** Budgets that refuse calls, and invocations that failed in the last hour by reason, the most first. */
export function CallAttention(): ReactNode {
  const { calls: texts } = useTexts().overview;
  const format = useFormat();
  const budgets = useRefusingBudgets();
  const failed = useFailedCalls();
  const refusing = budgets.data ?? [];
  const found = failed.data?.failed ?? [];
  const groups = groupsOf(found);
  const count = (calls: number): string =>
    calls === mostFailedCalls ? texts.atLeast(format.number(calls)) : texts.count(format.number(calls));
  return (
    <Panel
      title={texts.title}
      all={{ label: texts.all, to: '/invocations', search: { status: 'failed' } }}
      query={failed}
    >
      {refusing.length + groups.length === 0 ? (
        <PanelNote isGood>{texts.none}</PanelNote>
      ) : (
        <PanelList>
          {refusing.map(({ name, current: { refusing: refused } }) => (
            <PanelRow
              key={name}
              name={name}
              target={{ to: '/invocations', search: { refused_by: name, since: refused?.since } }}
              text={texts.refuses(format.moment(refused?.since ?? ''))}
            >
              <StatusBadge tone="danger">{texts.budget}</StatusBadge>
              {texts.count(format.number(refused?.calls ?? 0))}
            </PanelRow>
          ))}
          {groups.slice(0, mostShown).map((group) => (
            <PanelRow
              key={`${group.problem} ${group.provider ?? group.promptId ?? ''}`}
              name={nameOf(group)}
              target={{
                to: '/invocations',
                search: {
                  ...{ status: 'failed', problem: group.problem, since: failed.data?.since },
                  ...(group.provider === undefined ? { prompt: group.promptId } : { provider: group.provider }),
                },
              }}
              text={reasonOf(group, texts.since(format.moment(group.failed.at(-1)?.created_at ?? '')))}
            >
              <StatusBadge tone="danger">{group.problem}</StatusBadge>
              {count(group.failed.length)}
            </PanelRow>
          ))}
        </PanelList>
      )}
    </Panel>
  );
}

function groupsOf(failed: readonly Invocation[]): Group[] {
  const groups = new Map<string, Invocation[]>();
  for (const invocation of failed) {
    const { problem = '', provider = '', prompt_id: promptId = '', refused_by: budget } = invocation;
    if (budget !== undefined) continue;
    const name = problemName(problem);
    const key = name.startsWith('provider-') ? `${name} ${provider}` : `${name} ${promptId}`;
    groups.set(key, [...(groups.get(key) ?? []), invocation]);
  }
  return [...groups.values()]
    .map((some): Group => {
      const [{ problem = '', provider, prompt_id: promptId } = { problem: '' }] = some;
      const name = problemName(problem);
      const isOfProvider = name.startsWith('provider-');
      return { problem: name, provider: isOfProvider ? provider : undefined, promptId, failed: some };
    })
    .sort((one, other) => other.failed.length - one.failed.length);
}

function nameOf({ provider, failed: [newest] }: Group): string {
  return provider ?? newest?.prompt_slug ?? newest?.model ?? newest?.operation ?? '';
}

/** Why the newest one failed, and since when they do. */
function reasonOf({ failed: [newest] }: Group, since: string): string {
  const attempt = newest?.attempts.findLast(({ detail }) => detail !== undefined);
  const words = attempt?.provider_status === undefined ? undefined : attempt.provider_message;
  return [attempt?.detail, words && `“${words}”`, since]
    .filter((part) => part !== undefined && part !== '')
    .join(' · ');
}
