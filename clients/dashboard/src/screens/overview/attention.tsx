import type { LinkProps } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import type { Texts } from '../../texts/en.ts';
import type { Format } from '../../shared/format.ts';
import { failureWords } from '../../shared/problem-alert.tsx';
import { StatusBadge } from '../../shared/status-badge.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import { useOutcomeText } from '../deliveries/outcome-words.tsx';
import { problemName } from '../invocations/queries.ts';
import { Panel, PanelList, PanelNote, PanelRow } from './panel.tsx';
import { useAttention } from './queries.ts';

type Item = Schemas['AttentionItem'];
type Words = Texts['overview']['attention'];

const mostShown = 8;

/**
 * What fails now, the most serious first: what it is, why, since when, how often, with a link to exactly these. Brief, it
 * is absent if nothing fails.
 */
export function Attention({ isBrief }: { isBrief: boolean }): ReactNode {
  const { overview, shared } = useTexts();
  const { attention: texts } = overview;
  const outcomeText = useOutcomeText();
  const format = useFormat();
  const attention = useAttention();
  if (attention.data?.kinds.length === 0) return null;
  const all = attention.data?.data ?? [];
  // A prompt that fails because of a provider or a budget stands in its line.
  const items = all.filter(({ caused_by: cause }) => cause === undefined);
  if (isBrief && items.length === 0) return null;
  const promptsOf = (item: Item): number =>
    new Set(all.flatMap(({ id, caused_by: cause }) => (cause?.kind === item.kind && cause.id === item.id ? [id] : [])))
      .size;
  return (
    <Panel title={texts.title} query={attention}>
      {items.length === 0 ? (
        <PanelNote isGood>{texts.none}</PanelNote>
      ) : (
        <PanelList>
          {items.slice(0, mostShown).map((item) => (
            <PanelRow
              key={`${item.kind} ${item.id} ${item.version ?? ''}`}
              name={nameOf(item, texts)}
              target={targetOf(item)}
              text={[...reasonOf(item, texts, shared, outcomeText), texts.since(format.moment(item.since))].join(' · ')}
            >
              <StatusBadge tone="danger">{texts.statuses[`${item.kind}-${item.status}`] ?? item.status}</StatusBadge>
              {countOf(item, promptsOf(item), texts, format)}
            </PanelRow>
          ))}
        </PanelList>
      )}
      {items.length > mostShown && <PanelNote>{texts.more(format.number(items.length - mostShown))}</PanelNote>}
    </Panel>
  );
}

function nameOf({ kind, name, version }: Item, texts: Words): string {
  if (kind === 'storage') return texts.storage;
  return version === undefined ? name : `${name} · v${version}`;
}

/** What the number counts; without invocations the thing itself. Storage and identity provider have no page. */
function targetOf({ kind, id, invocations }: Item): Pick<LinkProps, 'to' | 'params' | 'search'> | undefined {
  if (kind === 'storage' || kind === 'identity-provider') return undefined;
  if (invocations !== undefined) return { to: '/invocations', search: invocations };
  if (kind === 'integration') return { to: '/integrations/$id', params: { id } };
  if (kind === 'canary') return { to: '/prompts/$promptId/history', params: { promptId: id } };
  if (kind === 'budget') return { to: '/costs/budgets/$name', params: { name: id } };
  return { to: '/providers', search: { provider: id } };
}

function reasonOf(
  item: Item,
  texts: Words,
  shared: Texts['shared'],
  outcomeText: (outcome: string) => string,
): string[] {
  const { kind, status, label, problem, detail, provider_message: words, disabled_reason, last_error: error } = item;
  if (kind === 'budget') return [texts.refuses];
  if (kind === 'canary') return [texts.rolledBack(label ?? '')];
  if (kind === 'storage') return [texts.withoutStorage, detail ?? []].flat();
  if (kind === 'identity-provider') return [texts.withoutIssuer, detail ?? []].flat();
  if (status === 'disabled') return [texts.disabled[disabled_reason ?? ''] ?? texts.disabledOtherwise];
  if (kind === 'integration') {
    const code = error?.status_code;
    if (error?.error !== undefined) return [outcomeText(error.error)];
    return [code === undefined ? [] : texts.status(String(code))].flat();
  }
  const why = failureWords(item, shared) ?? (problem && problemName(problem));
  return [...(why === undefined ? [] : [why]), ...(words === undefined ? [] : [texts.quoted(words)])];
}

function countOf(
  { kind, count, count_is_minimum: isMinimum, of }: Item,
  prompts: number,
  texts: Words,
  format: Format,
): string {
  if (count === undefined) return '';
  const number = isMinimum === true ? texts.atLeast(format.number(count)) : format.number(count);
  if (kind === 'integration') return texts.inARow(number);
  if (of !== undefined) return texts.ofAll(number, format.number(of));
  return [texts.invocations(number), ...(prompts > 0 ? [texts.prompts(format.number(prompts))] : [])].join(', ');
}
