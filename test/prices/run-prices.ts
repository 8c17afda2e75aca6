/**
 * Compares the table of prices with that of LiteLLM: the largest, kept by others. Where they differ, one of them is wrong
 * or older, and somebody should look; so they should where a model can write more there, because a call could cost more
 * than what budgets reserve for it. The newest release is downloaded from PyPI, and only its list is read: nothing of
 * the package is installed or run.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import table from '../../generated/prices.json' with { type: 'json' };
import { fromRate } from '../../src/base/runtime/money.ts';
import { findTablePrice } from '../../src/accounting/prices/price-table.ts';
import { rateOf, type Rate } from '../../src/accounting/prices/rates.ts';
import { vendors } from '../../src/models/vendors/index.ts';

const run = promisify(execFile);

/** What LiteLLM writes before the names of a provider's models. */
const prefixes: Readonly<Record<string, string>> = {
  openai: '',
  azure: 'azure/',
  anthropic: '',
  google: 'gemini/',
  'amazon-bedrock': '',
  mistral: 'mistral/',
  cohere: '',
  groq: 'groq/',
  xai: 'xai/',
  deepseek: 'deepseek/',
  openrouter: 'openrouter/',
  together: 'together_ai/',
};

/** LiteLLM's names of what is compared: dollars for a token. */
const members = {
  input: 'input_cost_per_token',
  output: 'output_cost_per_token',
  cachedInput: 'cache_read_input_token_cost',
  cacheWrite: 'cache_creation_input_token_cost',
} as const satisfies Partial<Record<keyof Rate, string>>;

type Entry = Readonly<Record<string, unknown>>;

async function downloadList(): Promise<{
  readonly release: string;
  readonly entries: Readonly<Record<string, Entry>>;
}> {
  const folder = await mkdtemp(path.join(tmpdir(), 'prices-'));
  try {
    const options = ['--no-deps', '--only-binary=:all:', '--quiet', '--dest', folder];
    await run('python3', ['-m', 'pip', 'download', 'litellm', ...options]);
    const [wheel = ''] = await readdir(folder);
    const program = `import sys, zipfile
sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read('litellm/model_prices_and_context_window_backup.json'))`;
    const { stdout } = await run('python3', ['-c', program, path.join(folder, wheel)], { maxBuffer: 64 * 1024 * 1024 });
    return { release: wheel.split('-')[1] ?? '', entries: JSON.parse(stdout) as Record<string, Entry> };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Dollars for a million tokens; undefined if the list does not say. */
function theirs(entry: Entry, member: string): number | undefined {
  const price = entry[member];
  return typeof price === 'number' && price > 0 ? price * 1e6 : undefined;
}

function compare(provider: string, model: string, entry: Entry): string[] {
  const price = findTablePrice(provider, model);
  const rate = rateOf(price?.rates ?? [], 1, new Date());
  if (rate === undefined) return [];
  const { max_output_tokens: written } = entry;
  const most = price?.mostOutputTokens ?? Infinity;
  const writes =
    typeof written === 'number' && written > most
      ? [`${provider}/${model}: writes ${most} tokens at most, there ${written}`]
      : [];
  const differences = (Object.keys(members) as (keyof typeof members)[]).flatMap((name) => {
    const own = Number(fromRate(rate[name]));
    const other = theirs(entry, members[name]);
    // What the table leaves out costs as much as the input there.
    const isStated = own !== Number(fromRate(rate.input)) || name === 'input';
    if (other === undefined || !isStated || Math.abs(own - other) <= 1e-6 * other) return [];
    return [`${provider}/${model}: ${name} ${own}, there ${Number(other.toPrecision(6))}`];
  });
  return [...writes, ...differences];
}

const { release, entries } = await downloadList();
const rows = [];
const differences: string[] = [];
for (const [provider, prefix] of Object.entries(prefixes)) {
  const priced = table.providers[provider as keyof typeof table.providers].models.filter((model) => 'rates' in model);
  const both = priced.flatMap(({ id }) => {
    const entry = entries[prefix + id];
    return entry === undefined || theirs(entry, members.input) === undefined ? [] : [{ id, entry }];
  });
  const found = both.map(({ id, entry }) => compare(provider, id, entry)).filter((list) => list.length > 0);
  differences.push(...found.flat());
  const offered = vendors.find(({ id }) => id === provider)?.models ?? [];
  const missing = offered.filter((model) => findTablePrice(provider, model) === undefined);
  rows.push({
    provider,
    'in the table': priced.length,
    'in both': both.length,
    equal: both.length - found.length,
    different: found.length,
    'offered without a price': missing.join(' '),
  });
}
console.log(`genai-prices ${table.version}, LiteLLM ${release}`);
console.table(rows);
console.log('Dollars for a million tokens, and tokens:');
for (const difference of differences) console.log(`  ${difference}`);
// A list of another form would make every night look fine.
if (rows.reduce((sum, row) => sum + row['in both'], 0) < 100) {
  console.error('The lists have hardly any model in common: has LiteLLM changed its names?');
  process.exitCode = 1;
}
