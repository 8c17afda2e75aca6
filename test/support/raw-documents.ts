import type { Database } from '../../src/db/client.ts';

/** The fields of each collection; a document with another one holds what nobody meant to store. */
const fields: Readonly<Record<string, readonly string[]>> = {
  prompts: [
    ...['_id', 'revision', 'writes', 'slug', 'name', 'description', 'messages', 'variables', 'selected_provider'],
    ...['selected_model', 'test_settings', 'version', 'version_created_at', 'created_at', 'updated_at', 'deleting'],
  ],
  prompt_versions: [
    ...['_id', 'prompt_id', 'version', 'messages', 'variables', 'selected_provider', 'selected_model', 'created_at'],
  ],
  test_runs: [
    ...['_id', 'revision', 'writes', 'prompt_id', 'prompt_version', 'status', 'providers', 'created_at', 'finished_at'],
    ...['heartbeat', 'buried_at'],
  ],
  api_keys: [
    ...['_id', 'revision', 'writes', 'name', 'scopes', 'secret_hash', 'created_at', 'expires_at', 'last_used_at'],
    'revoked_at',
  ],
  idempotency_keys: [
    ...['_id', 'revision', 'writes', 'fingerprint', 'owner', 'resource_id', 'lease_until', 'expires_at', 'answer'],
  ],
};

/** Reads the whole database past the service and names everything that should not be in it. */
export async function findStrangeDocuments({ db }: Database): Promise<string[]> {
  const strange: string[] = [];
  for (const { name } of await db.listCollections().toArray()) {
    const known = fields[name];
    if (known === undefined) strange.push(`collection ${name}`);
    for await (const document of db.collection(name).find()) {
      const where = `${name} ${String(document['_id'])}`;
      for (const field of Object.keys(document))
        if (known?.includes(field) === false) strange.push(`${where}: ${field}`);
      for (const key of namesIn(document)) {
        if (/^\$|[.\0]|^(__proto__|constructor|prototype)$/.test(key)) strange.push(`${where}: a field named ${key}`);
      }
    }
  }
  return strange;
}

/** All names of fields, however deep. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== 'object' || value === null || value instanceof Date) return [];
  return Object.entries(value).flatMap(([key, member]) => [key, ...namesIn(member)]);
}
