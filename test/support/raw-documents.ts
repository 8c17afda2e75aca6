import { Binary } from 'mongodb';
import { personFields } from '../../src/access/people/person.ts';
import { categoryFields } from '../../src/orders/catalog/categories/category.ts';
import { locationFields } from '../../src/orders/catalog/locations/location.ts';
import { productFields } from '../../src/orders/catalog/products/product.ts';
import { integrationFields } from '../../src/webhooks/integrations/integration.ts';
import { orderFields } from '../../src/orders/order.ts';
import { contentFields, promptFields } from '../../src/prompts/prompt.ts';
import { evaluationFields } from '../../src/prompts/evaluations/runs/evaluation.ts';
import { datasetFields, versionFields } from '../../src/prompts/evaluations/datasets/dataset.ts';
import { testRunFields } from '../../src/prompts/test-runs/test-run.ts';
import type { PagedDatabase } from '../../src/storage/db/pages.ts';
import { openDatabase } from './database.ts';
import type { TestService } from './service.ts';

const stamps = ['_id', 'revision', 'writes'];
/** Of documents whose changes are recorded. */
const audited = [...stamps, 'audit', 'removed'];
const auditEntry = [
  ...['at', 'operation', 'author', 'session_id', 'resource_type', 'resource_id', 'before', 'after'],
  ...['resource_name', 'currency', 'withheld', 'cut', 'request_id', 'address'],
];

/** The fields of each collection. A document with another field contains data that was not intended. */
const fields: Readonly<Record<string, readonly string[]>> = {
  /** Empty except during the check of the database. */
  database_check: ['_id', 'at'],
  prompts: [...audited, ...promptFields.storedNames, 'outbox'],
  prompt_versions: ['_id', 'prompt_id', 'version', ...contentFields.storedNames, 'created_at', 'author', 'note'],
  label_moves: ['_id', 'prompt_id', 'label', 'sequence', 'version', 'moved_at', 'author'],
  budgets: [
    ...audited,
    ...['budget_id', 'scope', 'limit', 'period', 'time_zone', 'unpriced', 'assume_max_output_tokens'],
    ...['thresholds', 'blocked', 'created_at', 'set_at', 'author'],
  ],
  budget_periods: [
    ...['_id', 'budget', 'budget_id', 'since', 'resets_at', 'limit', 'revision', 'taken', 'spent', 'by', 'holders'],
    ...['announced', 'refused', 'outbox', 'expires_at'],
  ],
  alerts: ['_id', 'since', 'warned', 'disabled', 'count', 'told', 'outbox', 'expires_at'],
  model_prices: [...audited, 'provider', 'model', 'rates', 'set_at', 'author'],
  datasets: [...audited, ...datasetFields.storedNames],
  dataset_versions: [...versionFields.storedNames, 'pending'],
  case_keys: ['_id', 'key', 'erased_at'],
  judge_marks: ['_id', 'judge_key', 'pass', 'judge_passes', 'author', 'marked_at', 'expires_at'],
  evaluations: [
    ...[...audited, ...evaluationFields.storedNames, 'active', 'lease', 'heartbeat', 'slot', 'key_slot'],
    ...['next', 'entries', 'pending', 'results_until', 'expires_at'],
  ],
  test_runs: [...stamps, ...testRunFields.storedNames, 'heartbeat', 'buried_at'],
  api_keys: [
    ...[
      ...audited,
      'name',
      'scopes',
      'secret_hash',
      'ancestors',
      'author',
      'person',
      'limits',
      'created_at',
      'expires_at',
      'last_used_at',
      'revoked_at',
    ],
  ],
  idempotency_keys: [
    ...stamps,
    'fingerprint',
    'owner',
    'resource_id',
    'beat',
    'term_ms',
    'given_up',
    'expires_at',
    'answer',
  ],
  ended_sessions: ['_id', 'expires_at', 'audit'],
  people: [...audited, ...personFields.storedNames],
  person_sessions: [...audited, 'person_id', 'epoch', 'sid', 'id_token', 'started_at', 'expires_at'],
  oidc_uses: [...stamps, 'expires_at'],
  sign_in_links: [...stamps, 'key_id', 'expires_at', 'used_at'],
  installation: [...stamps, 'installation_id'],
  schema: [...stamps, 'version', 'oldest_reader', 'releases', 'holder', 'building'],

  locations: [
    ...[...audited, ...locationFields.storedNames],
    ...['next_fiscal_day', 'next_fiscal_day_begins_at', 'next_fiscal_day_ends_at'],
  ],
  categories: [...audited, ...categoryFields.storedNames, 'outbox'],
  products: [...audited, ...productFields.storedNames, 'outbox'],
  orders: [...stamps, ...orderFields.storedNames, 'uncounted', 'outbox'],
  fiscal_days: [
    ...[
      ...stamps,
      'location_id',
      'date',
      'cut_at',
      'order_count',
      'total',
      'tax_lines',
      'currency',
      'cause',
      'counted',
      'outbox',
    ],
  ],

  integrations: [...audited, ...integrationFields.storedNames],
  feed_blocks: ['_id', 'created_at', 'entries', 'from'],
  lanes: ['_id', 'health', 'last_attempt_at', 'last_success_at'],
  layout: ['_id', 'version', 'token', 'members', 'holders', 'calls'],
  events: [
    ...['_id', 'type', 'target_id', 'location_id', 'created_at', 'body', 'recipients', 'expires_at'],
    ...['traceparent', 'test'],
  ],
  deliveries: [
    ...['_id', 'event_id', 'event_type', 'integration_id', 'replay_id', 'target_id', 'event_created_at'],
    ...['created_at', 'body', 'status', 'lane', 'next_attempt_at', 'stamp', 'tries', 'failures', 'finished_at'],
    ...['expires_at', 'last_outcome', 'traceparent', 'fresh', 'urgent', 'replayed_by', 'location_id', 'test'],
  ],
  attempts: [
    ...['_id', 'integration_id', 'delivery_id', 'number', 'at', 'milliseconds', 'status', 'error', 'expires_at'],
    ...['request_headers', 'response_headers', 'response', 'response_cut', 'certificate_names'],
  ],
  replays: [
    ...[...stamps, 'integration_id', 'delivery_id', 'since', 'until', 'types', 'cursor_created_at', 'cursor_id'],
    ...['only', 'status', 'deliveries', 'created_at', 'finished_at', 'expires_at'],
  ],

  audit_log: ['_id', 'expires_at', ...auditEntry],
  costs: [
    ...['_id', 'tagged', 'day', 'key_id', 'key_name', 'prompt_id', 'prompt_slug', 'prompt_version', 'provider'],
    ...['model', 'tag', 'quarters', 'expires_at'],
  ],
  costs_progress: ['_id', 'until'],
  statistics: ['_id', 'minutes', 'quarters', 'expires_at'],
  provider_health: ['_id', 'succeeded_at', 'failing_since', 'failure', 'expires_at'],
  journals: ['_id', 'seq', 'state', 'open', 'settled'],
  feedback: [...[...stamps, 'invocation_id', 'author', 'score', 'name', 'comment', 'created_at', 'expires_at']],
  /** One collection a day, as of the next. */
  invocation_contents: ['_id', 'key', 'data', 'erased_at'],
  invocations: [
    ...['_id', 'created_at', 'operation', 'status', 'problem', 'refused_by', 'author', 'prompt_id', 'prompt_slug'],
    ...[
      'prompt_version',
      'label',
      'evaluation_id',
      'tags',
      'request_id',
      'trace_id',
      'streamed',
      'cached',
      'joined',
      'assumed_max_output_tokens',
      'provider',
      'content_kept',
    ],
    ...['model', 'latency_ms', 'first_content_ms', 'finish_reason', 'usage', 'cost', 'attempts'],
  ],
};

/** Reads the whole database of a service directly, and names everything that should not be in it. */
export async function findStrangeDocuments({ environment }: Pick<TestService, 'environment'>): Promise<string[]> {
  const { MONGODB_URI: uri = '', MONGODB_DATABASE: databaseName = '' } = environment;
  const database = await openDatabase(uri, databaseName);
  try {
    return await readAll(database);
  } finally {
    await database.close();
  }
}

async function readAll({ db }: PagedDatabase): Promise<string[]> {
  const strange: string[] = [];
  for (const { name } of await db.listCollections().toArray()) {
    const kind = name.replace(/_\d{8}$/, '');
    const known = fields[kind] ?? [];
    if (fields[kind] === undefined) strange.push(`collection ${name}`);
    for await (const document of db.collection(name).find()) {
      const where = `${name} ${String(document['_id'])}`;
      for (const field of Object.keys(document)) if (!known.includes(field)) strange.push(`${where}: ${field}`);
      for (const key of namesIn(document)) {
        if (/^\$|[.\0]|^(__proto__|constructor|prototype)$/.test(key)) strange.push(`${where}: a field named ${key}`);
      }
    }
  }
  return strange;
}

/** All field names, at any depth. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== 'object' || value === null || value instanceof Date || value instanceof Binary) return [];
  return Object.entries(value).flatMap(([key, member]) => [key, ...namesIn(member)]);
}
