import type { OutboxEntry } from './event.ts';
import type { AuthorRef } from '../../base/limits/principal.ts';
import { defined } from '../../base/runtime/objects.ts';

/** When something happened, and the id that its event will have. */
export interface AnyOccasion {
  /** UUID, chosen before the write so that a repeated write announces the same event. */
  readonly eventId: string;
  readonly at: Date;
  /** W3C trace context of the request that caused it, if it had one. */
  readonly traceparent: string | undefined;
}

/** The same, and where it happened. */
export interface Occasion extends AnyOccasion {
  readonly locationId: string;
  readonly locationName: string | undefined;
}

export interface PlacedOrder {
  readonly orderId: string;
  /** One name for each line of the order. */
  readonly itemNames: readonly string[];
  /** Tags of all items, each once. */
  readonly itemTags: readonly string[];
  /** Names of the categories of all items. */
  readonly categoryNames: readonly string[];
  /** Empty if the order has no spot, as `zoneName`. */
  readonly spotName: string;
  readonly zoneName: string;
  /** In minor units of the currency, including taxes and fees. */
  readonly total: number;
  readonly currency: string;
  /** The caller's own reference for the order. */
  readonly referenceId: string | undefined;
}

/** `ORDER_PLACED`: an order has been placed at a location. */
export function orderPlaced(order: PlacedOrder, occasion: Occasion): OutboxEntry {
  const { orderId, itemNames, itemTags, categoryNames, spotName, zoneName, total, currency, referenceId } = order;
  return announce('ORDER_PLACED', occasion, {
    targetId: orderId,
    data: defined({
      itemNames: [...itemNames],
      itemTags: [...new Set(itemTags)],
      spotName,
      total,
      currency,
      zoneName,
      referenceId,
      created: occasion.at.toISOString(),
      categoryNames: [...new Set(categoryNames)],
    }),
  });
}

/** The two ways in which an order ends. */
export type EndedStatus = 'completed' | 'canceled';

/** `ORDER_COMPLETED` or `ORDER_CANCELED`: an open order has ended. */
export function orderEnded(
  status: EndedStatus,
  {
    id,
    total,
    currency,
    referenceId,
  }: Pick<PlacedOrder, 'total' | 'currency' | 'referenceId'> & { readonly id: string },
  occasion: Occasion,
): OutboxEntry {
  return announce(status === 'completed' ? 'ORDER_COMPLETED' : 'ORDER_CANCELED', occasion, {
    targetId: id,
    data: defined({ total, currency, referenceId }),
  });
}

/** `PRODUCT_UPDATED`: a product has been changed. New products are not announced. */
export function productUpdated(productId: string, occasion: Occasion): OutboxEntry {
  return announce('PRODUCT_UPDATED', occasion, { targetId: productId, data: {} });
}

/**
 * `CATEGORY_UPDATED`: a category has been changed, or a product in it.
 * @param productId the changed product; left out when the category itself was changed
 */
export function categoryUpdated(categoryId: string, occasion: Occasion, productId?: string): OutboxEntry {
  const cause =
    productId === undefined ? { type: 'CATEGORY_UPDATED' } : { type: 'PRODUCT_UPDATED', targetUuid: productId };
  return announce('CATEGORY_UPDATED', occasion, { targetId: categoryId, data: { cause } });
}

export interface EndedFiscalDay {
  /** `YYYY-MM-DD`. */
  readonly fiscalDay: string;
  readonly orderCount: number;
  /** Sum of the orders' totals, in minor units of the currency. */
  readonly total: number;
  readonly currency: string;
}

/** `FISCAL_DAY_END`: a fiscal day has ended at a location. */
export function fiscalDayEnded(
  day: EndedFiscalDay,
  occasion: Occasion & { readonly locationName: string },
): OutboxEntry {
  const { fiscalDay, orderCount, total, currency } = day;
  const data = { fiscalDay, orderCount, total, currency, locationName: occasion.locationName };
  return announce('FISCAL_DAY_END', occasion, { targetId: occasion.locationId, data });
}

/** A budget in a period. */
export interface AnnouncedBudget {
  readonly budgetId: string;
  readonly name: string;
  readonly scope: {
    readonly keyId?: string | undefined;
    readonly promptId?: string | undefined;
    readonly tag?: string | undefined;
  };
  readonly limit: Money;
  /** Of the period. */
  readonly since: Date;
  readonly resetsAt: Date | undefined;
}

export interface ReachedThreshold extends AnnouncedBudget {
  /** In percent of the limit. */
  readonly threshold: number;
  readonly spent: Money;
}

interface Money {
  readonly amount: string;
  readonly currency: 'USD';
}

/** `BUDGET_THRESHOLD_REACHED`: a part of a budget has been spent. It belongs to no location. */
export function budgetThresholdReached(reached: ReachedThreshold, occasion: AnyOccasion): OutboxEntry {
  const { threshold, spent } = reached;
  return announce('BUDGET_THRESHOLD_REACHED', occasion, {
    targetId: reached.budgetId,
    data: { ...periodOf(reached), threshold, spent },
  });
}

/** `BUDGET_REFUSING`: a budget has refused a call, for the first time in its period. It belongs to no location. */
export function budgetRefusing(budget: AnnouncedBudget, occasion: AnyOccasion): OutboxEntry {
  return announce('BUDGET_REFUSING', occasion, { targetId: budget.budgetId, data: periodOf(budget) });
}

/** A prompt under its slug at that time, and who changed it. */
export interface ChangedPrompt {
  readonly promptId: string;
  readonly slug: string;
  readonly author: AuthorRef;
}

/** `PROMPT_VERSION_CREATED`: a prompt has a new version, or is new. It belongs to no location. */
export function promptVersionCreated(
  { promptId, slug, version, author }: ChangedPrompt & { readonly version: number },
  occasion: AnyOccasion,
): OutboxEntry {
  return announce('PROMPT_VERSION_CREATED', occasion, { targetId: promptId, data: { slug, version, author } });
}

/** A move of a label, as the history of the label has it. */
export interface MovedLabel extends ChangedPrompt {
  readonly label: string;
  readonly sequence: number;
  /** The version that it named before; undefined for a new label. */
  readonly from: number | undefined;
  /** Undefined for a deletion. */
  readonly to: number | undefined;
  readonly cause: string;
  /** Of the canary that the move starts, changes or ends. */
  readonly canaryVersion: number | undefined;
}

/** `PROMPT_LABEL_MOVED`: a label of a prompt has moved. It belongs to no location. */
export function promptLabelMoved(
  { promptId, slug, label, sequence, from, to, cause, canaryVersion, author }: MovedLabel,
  occasion: AnyOccasion,
): OutboxEntry {
  return announce('PROMPT_LABEL_MOVED', occasion, {
    targetId: promptId,
    data: defined({ slug, label, sequence, from, to, cause, canaryVersion, author }),
  });
}

/** `PROMPT_DELETED`: a prompt has been deleted. It belongs to no location. */
export function promptDeleted({ promptId, slug, author }: ChangedPrompt, occasion: AnyOccasion): OutboxEntry {
  return announce('PROMPT_DELETED', occasion, { targetId: promptId, data: { slug, author } });
}

export interface FailingReceiver {
  readonly integrationId: string;
  readonly name: string;
  /** The first failure after the last success. */
  readonly since: Date;
  /** Deliveries. */
  readonly waiting: number;
}

/** `INTEGRATION_FAILING`: a receiver fails. It belongs to no location. */
export function integrationFailing(
  receiver: FailingReceiver & {
    readonly failures: number;
    readonly status: number | undefined;
    readonly error: string | undefined;
    /** When it will be disabled, if that is known. */
    readonly disablesAt: Date | undefined;
  },
  occasion: AnyOccasion,
): OutboxEntry {
  const { name, since, failures, status, error, waiting, disablesAt } = receiver;
  return announce('INTEGRATION_FAILING', occasion, {
    targetId: receiver.integrationId,
    data: defined({
      ...{ name, since: since.toISOString(), failures, status, error, waiting },
      disablesAt: disablesAt?.toISOString(),
    }),
  });
}

/** `INTEGRATION_RECOVERED`: a receiver that failed works again. It belongs to no location. */
export function integrationRecovered(receiver: FailingReceiver, occasion: AnyOccasion): OutboxEntry {
  const { name, since, waiting } = receiver;
  return announce('INTEGRATION_RECOVERED', occasion, {
    targetId: receiver.integrationId,
    data: { name, since: since.toISOString(), waiting },
  });
}

/** `INTEGRATION_DISABLED`: the service has disabled an integration. It belongs to no location. */
export function integrationDisabled(
  receiver: Omit<FailingReceiver, 'since'> & { readonly reason: string },
  occasion: AnyOccasion,
): OutboxEntry {
  const { name, reason, waiting } = receiver;
  return announce('INTEGRATION_DISABLED', occasion, {
    targetId: receiver.integrationId,
    data: { name, reason, waiting },
  });
}

/** `INTEGRATIONS_FAILING`: more receivers fail than are announced one by one. @param integrationId one of them */
export function integrationsFailing(
  { integrationId, failing, announced }: { integrationId: string; failing: number; announced: number },
  occasion: AnyOccasion,
): OutboxEntry {
  return announce('INTEGRATIONS_FAILING', occasion, { targetId: integrationId, data: { failing, announced } });
}

function periodOf({ name, scope: { keyId, promptId, tag }, limit, since, resetsAt }: AnnouncedBudget) {
  return defined({
    budget: name,
    scope: defined({ keyId, promptId, tag }),
    limit,
    since: since.toISOString(),
    resetsAt: resetsAt?.toISOString(),
  });
}

function announce(
  type: OutboxEntry['type'],
  {
    eventId,
    locationId,
    locationName,
    at,
    traceparent,
  }: AnyOccasion & Partial<Pick<Occasion, 'locationId' | 'locationName'>>,
  { targetId, data }: Pick<OutboxEntry, 'targetId' | 'data'>,
): OutboxEntry {
  return { id: eventId, type, targetId, locationId, locationName, createdAt: at, traceparent, data };
}
