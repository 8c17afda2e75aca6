/**
 * What fails now. Nothing is kept for it: providers, budgets, the invocation log, lanes, the storage and
 * the identity provider know it already, and
 * each number is the total of a list that a reader can open.
 */
import type { Budgets } from '../accounting/budgets/budgets.ts';
import type { InvocationDocument, InvocationFilter } from '../accounting/invocations/invocation.ts';
import type { Statistics } from '../accounting/statistics/statistics.ts';
import type { Clock } from '../base/runtime/clock.ts';
import type { Listing, Total } from '../base/lists/listing.ts';
import type { ProviderFailure } from '../models/provider-health.ts';
import type { ProviderRegistry } from '../models/provider.ts';
import type { Canaries } from '../prompts/evaluations/canaries/canaries.ts';
import type { StorageFailure } from '../storage/blobs/create-blob-store.ts';
import { soundCondition, type Condition } from '../webhooks/integrations/condition.ts';
import type { Integration } from '../webhooks/integrations/integration.ts';

/** Parameters of the list of invocations that finds some. */
export type Found = Readonly<Record<string, string>>;

interface Item {
  readonly id: string;
  readonly name: string;
  readonly since: Date;
}

/** Invocations, and the parameters that find them; undefined if the reader may not see them. */
interface Counted {
  readonly invocations: { readonly found: Found; readonly total: Total } | undefined;
}

export interface FailingProvider extends Item, Counted {
  readonly failure: ProviderFailure | undefined;
}
export type RefusingBudget = Item & Counted;
/** A provider that fails, or a budget that refuses. */
interface Cause {
  readonly kind: 'provider' | 'budget';
  readonly id: string;
}
export interface FailingPrompt extends Item, Counted {
  readonly version: number;
  /** All invocations of the version in the last hour. */
  readonly of: number;
  /** Undefined if an invocation that was looked at failed for another reason. */
  readonly causedBy: Cause | undefined;
  /** The last invocation that failed. */
  readonly last: InvocationDocument;
}
/** A version that failed so much more often in a canary that it was ended. */
export interface FailedCanary extends Item {
  readonly label: string;
  readonly version: number;
}
export interface FailingIntegration extends Item {
  readonly disabledReason: NonNullable<Integration['disabled']>['reason'] | undefined;
  readonly isDisabled: boolean;
  readonly consecutiveFailures: number;
  readonly lastFailure: Condition['lastFailure'];
}

/** The object storage, or the identity provider. */
export interface FailingDependency extends Item {
  readonly detail: string;
}

export interface Attention {
  /** @param seesCalls whether their invocations are counted */
  providers(seesCalls: boolean): Promise<FailingProvider[]>;
  budgets(seesCalls: boolean): Promise<RefusingBudget[]>;
  /** The object storage, if it does not work. */
  storage(): Promise<FailingDependency[]>;
  /** The identity provider, if nobody can sign in, as far as this process has seen. */
  issuer(): FailingDependency[];
  prompts(): Promise<FailingPrompt[]>;
  canaries(): Promise<FailedCanary[]>;
  integrations(): Promise<FailingIntegration[]>;
}

export interface AttentionDependencies {
  readonly providers: Pick<ProviderRegistry, 'list'>;
  readonly statistics: Pick<Statistics, 'ofProviders' | 'ofService' | 'ofPrompt'>;
  readonly budgets: Pick<Budgets, 'list'>;
  readonly invocations: { list(filter: InvocationFilter): Listing<InvocationDocument> };
  readonly integrations: {
    list(status: 'disabled'): Listing<Integration>;
    findMany(ids: readonly string[]): Promise<ReadonlyMap<string, Integration>>;
    /** Those that nothing is sent to. */
    inactiveIds(): Promise<readonly string[]>;
  };
  readonly canaries: Pick<Canaries, 'failed'>;
  readonly receivers: {
    /** Ids of integrations whose last attempt failed, those with the most failures in a row first. */
    failing(most: number): Promise<readonly string[]>;
    conditions(integrations: readonly Integration[]): Promise<ReadonlyMap<string, Condition>>;
  };
  readonly storage: {
    /** Answers within seconds. */
    check(): Promise<void>;
    failure(): StorageFailure | undefined;
  };
  /** Undefined without an identity provider. */
  readonly issuer:
    | { readonly name: string; failure(): { readonly since: Date; readonly detail: string } | undefined }
    | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

/** Of each kind. */
const most = 50;
const mostBudgets = 1_000;
/** Failed invocations that are read to find the prompts, the latest first. */
const mostRead = 200;
/** Of the invocations of a version. */
const worthShare = 0.1;
const hourMs = 3_600_000;

export function createAttention(dependencies: AttentionDependencies): Attention {
  const { providers, statistics, budgets, invocations, integrations, receivers, canaries, storage, issuer, clock } =
    dependencies;
  /** Up to now, so that the list has what was counted. */
  const counted = async (isSeen: boolean, filter: InvocationFilter, parameters: Found): Promise<Counted> => {
    if (!isSeen) return { invocations: undefined };
    const until = clock.now();
    const total = await invocations.list({ ...filter, until }).total();
    return { invocations: { found: { ...parameters, until: until.toISOString() }, total } };
  };

  const failingProviders = async () => {
    const configured = providers.list().filter((provider) => provider.configured);
    const health = await statistics.ofProviders(configured.map(({ id }) => id));
    return configured.flatMap(({ id, name }) => {
      const { failingSince: since, lastFailure: failure } = health.get(id) ?? {};
      return since === undefined ? [] : [{ id, name, since, failure }];
    });
  };

  return {
    async providers(seesCalls) {
      const failing = await failingProviders();
      return await Promise.all(
        failing.slice(0, most).map(async (provider) => {
          const { id: attemptProvider, since } = provider;
          const found = { attempt_provider: attemptProvider, since: since.toISOString() };
          return { ...provider, ...(await counted(seesCalls, { attemptProvider, since }, found)) };
        }),
      );
    },
    async budgets(seesCalls) {
      const all = await itemsOf(await budgets.list(), mostBudgets);
      const refusing = all.flatMap(({ budget: { name }, refused }) =>
        refused === undefined ? [] : [{ id: name, name, since: refused.since }],
      );
      return await Promise.all(
        refusing.slice(0, most).map(async (budget) => {
          const { name: refusedBy, since } = budget;
          const found = { refused_by: refusedBy, since: since.toISOString() };
          return { ...budget, ...(await counted(seesCalls, { refusedBy, since }, found)) };
        }),
      );
    },
    async storage() {
      await storage.check().catch(() => undefined);
      const failure = storage.failure();
      return failure === undefined ? [] : [{ id: 'storage', name: 'Object storage', ...failure }];
    },
    issuer() {
      const failure = issuer?.failure();
      return issuer === undefined || failure === undefined ? [] : [{ id: 'oidc', name: issuer.name, ...failure }];
    },
    async prompts() {
      const { total } = await statistics.ofService('hour');
      // The log is only searched for what is there.
      if (total.counts.invocation_errors === 0) return [];
      const since = new Date(clock.now().getTime() - hourMs);
      const failed = await itemsOf(invocations.list({ status: 'failed', since }), mostRead);
      const failing = new Set((await failingProviders()).map(({ id }) => id));
      const causeOf = ({ refused_by: budget, problem, provider = '' }: InvocationDocument): Cause | undefined => {
        if (budget !== undefined) return { kind: 'budget', id: budget };
        const isOfProvider = problem?.startsWith('provider-') === true && failing.has(provider);
        return isOfProvider ? { kind: 'provider', id: provider } : undefined;
      };
      const groups = Map.groupBy(
        // Whoever evaluates a version expects that it may fail, and sees it there.
        failed.filter((one) => one.prompt_version !== undefined && one.evaluation_id === undefined),
        ({ prompt_id: id, prompt_version: version }) => `${id}/${version}`,
      );
      const found = [...groups.values()].slice(0, most).map(async (group): Promise<FailingPrompt[]> => {
        const [last] = group;
        const { prompt_id: promptId = '', prompt_version: version = 0, prompt_slug: name = '' } = last ?? {};
        const { versions } = await statistics.ofPrompt(promptId, 'hour', Infinity);
        const of = versions.find((other) => other.version === version)?.total.counts.invocations ?? 0;
        const filter = { status: 'failed', promptId, version, since } as const;
        const parameters = { status: 'failed', prompt: promptId, version: String(version), since: since.toISOString() };
        const calls = await counted(true, filter, parameters);
        const count = leastOf(calls.invocations?.total ?? 0);
        if (last === undefined || count < of * worthShare) return [];
        const first = group.at(-1) ?? last;
        const causedBy = group.every((one) => causeOf(one) !== undefined) ? causeOf(last) : undefined;
        const all = Math.max(of, count);
        return [{ id: promptId, name, since: first.created_at, version, of: all, causedBy, last, ...calls }];
      });
      return (await Promise.all(found))
        .flat()
        .sort((one, other) => leastOf(other.invocations?.total ?? 0) - leastOf(one.invocations?.total ?? 0));
    },
    async canaries() {
      return (await canaries.failed())
        .map(({ prompt: { id, slug: name }, label, canary: { version, ended } }) => ({
          ...{ id, name, label, version, since: ended.at },
        }))
        .sort((one, other) => other.since.getTime() - one.since.getTime())
        .slice(0, most);
    },
    async integrations() {
      const [disabled, inactive] = await Promise.all([
        itemsOf(integrations.list('disabled'), most),
        integrations.inactiveIds(),
      ]);
      // What they failed before stays stored, so they can be many of those that fail.
      const left = new Set(inactive);
      const failing = (await receivers.failing(most + left.size)).filter((id) => !left.has(id)).slice(0, most);
      const active = [...(await integrations.findMany(failing)).values()].filter(({ status }) => status === 'active');
      const conditions = await receivers.conditions([...disabled, ...active]);
      const show = (integration: Integration): FailingIntegration => {
        const { id, name, status, disabled: why, updatedAt } = integration;
        const { consecutiveFailures, lastFailure, failingSince } = conditions.get(id) ?? soundCondition;
        const since = (status === 'disabled' ? why?.at : failingSince) ?? lastFailure?.at ?? updatedAt;
        const isDisabled = status === 'disabled';
        return { id, name, since, isDisabled, disabledReason: why?.reason, consecutiveFailures, lastFailure };
      };
      const found = active.map(show).filter(({ consecutiveFailures }) => consecutiveFailures > 0);
      found.sort((one, other) => other.consecutiveFailures - one.consecutiveFailures);
      return [...disabled.map(show), ...found].slice(0, most);
    },
  };
}

async function itemsOf<Thing>(listing: Listing<Thing>, limit: number): Promise<Thing[]> {
  const entries = await Array.fromAsync(listing.entries({ offset: 0 }, limit));
  return entries.flatMap(([, item]) => item ?? []);
}

export function leastOf(total: Total): number {
  return typeof total === 'number' ? total : total.atLeast;
}
