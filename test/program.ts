/**
 * `npm run program -- NAME [ARGUMENTS]` runs one of the programs below; without a name it lists them. The arguments go to
 * the last of its commands. It ends with the first command that fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

interface Program {
  readonly what: string;
  /** Commands, or names of other programs, in order, as a shell reads them. */
  readonly runs: readonly string[];
}

const tsc = (part: string, project: string): string =>
  `node node_modules/@typescript/native/bin/tsc --noEmit --incremental --tsBuildInfoFile node_modules/.cache/types/${part} --project ${project}`;

const programs: Readonly<Record<string, Program>> = {
  'check:contract': {
    what: 'lint of the contract',
    runs: [
      'redocly lint openapi/openapi.yaml openapi/flows/*.yaml --config openapi/redocly.yaml',
      'redocly lint asyncapi/asyncapi.yaml --config asyncapi/redocly.yaml',
    ],
  },
  'check:generated': {
    what: 'whether the generated files are current',
    runs: ['node src/codegen/generate.ts --check'],
  },
  'check:compatibility': {
    what: 'changes of the contract that break callers or receivers of the last release',
    runs: ['node src/codegen/compatibility/check-compatibility.ts'],
  },
  'check:types': {
    what: 'types of everything',
    runs: ['types:service', 'types:client', 'types:cli', 'types:dashboard'],
  },
  'types:service': { what: 'types of the service and its tests', runs: [tsc('service', '.')] },
  'types:client': { what: 'types of the client', runs: [tsc('client', 'clients/typescript')] },
  'types:cli': { what: 'types of its command line', runs: [tsc('cli', 'clients/typescript/src/cli')] },
  'types:dashboard': { what: 'types of the dashboard', runs: [tsc('dashboard', 'clients/dashboard')] },
  'check:code': { what: 'lint of the code', runs: ['oxlint'] },
  'check:structure': {
    what: 'what may import what, and what nothing uses',
    runs: ['depcruise src test clients/typescript/src clients/dashboard/src', 'knip'],
  },
  'check:format': { what: 'formatting', runs: ['oxfmt --check'] },

  'release:contract': {
    what: 'at a release: later changes of the contract are compared with this one',
    runs: ['node src/codegen/compatibility/check-compatibility.ts --release'],
  },
  sbom: {
    what: 'the software bill of materials (CycloneDX) of the service, `--image` that of the container image',
    runs: ['node src/codegen/sbom.ts'],
  },
  screenshots: {
    what: 'pictures of every screen of the dashboard, in clients/dashboard/screenshots/ (not in git)',
    runs: ['env SCREENSHOTS=on jest --config jest.system.config.mjs test/dashboard'],
  },

  'test:faults': {
    what: 'all of the following',
    runs: [
      'test:faults:prompts',
      'test:faults:webhooks',
      'test:faults:invocations',
      'test:faults:budgets',
      'test:faults:evaluations',
    ],
  },
  'test:faults:prompts': {
    what: 'kills service and database under load and counts lost writes',
    runs: ['node test/faults/run-faults.ts'],
  },
  'test:faults:webhooks': {
    what: 'the same for events, with receivers that misbehave; `--quick` is the short form',
    runs: ['node test/faults/webhooks/run-webhook-faults.ts'],
  },
  'test:faults:invocations': {
    what: 'kills processes under invocations, and compares log, costs and budgets with what the provider got and bills; `--calls 100000` for more',
    runs: ['node test/faults/invocations/run-invocation-faults.ts'],
  },
  'test:faults:budgets': {
    what: 'kills and stops processes that spend from the same budgets, and compares these with bill and log',
    runs: ['node test/faults/budgets/run-budget-faults.ts'],
  },
  'test:faults:evaluations': {
    what: 'kills and freezes processes in the middle of an evaluation, and compares it with one that nobody disturbs',
    runs: ['node test/faults/evaluations/run-evaluation-faults.ts'],
  },
  'test:hostile': {
    what: 'hostile callers and receivers; measures latency for others and memory; `--engine NAME`',
    runs: ['node test/hostile/run-hostile.ts'],
  },
  'test:schemathesis': {
    what: 'property-based tests over HTTP',
    runs: ['node test/schemathesis/run-schemathesis.ts'],
  },
  'test:generators': {
    what: 'clients of ten generators (Python, Go, Java, Rust, TypeScript) are generated, compiled, and call the service; `kubb` for one; needs Go, a JDK, Maven and Cargo',
    runs: ['node test/generators/run-generators.ts'],
  },
  'test:python-receiver': {
    what: 'a receiver in Python verifies and validates 1,000 events against the served schemas; then those of guide 1, in FastAPI and Flask',
    runs: ['node test/python-receiver/run-python-receiver.ts'],
  },
  'test:python-sdks': {
    what: '`openai`, `langchain-openai` and `anthropic` from PyPI against the service',
    runs: ['node test/sdks/run-sdks.ts python'],
  },
  'test:npm-sdks': {
    what: '`ai` with `@ai-sdk/openai-compatible`, `@langchain/openai` and `@anthropic-ai/sdk`, against the service',
    runs: ['node test/sdks/run-sdks.ts npm'],
  },
  'test:mcp': {
    what: "the conformance suite of MCP's makers, in both revisions, against the service",
    runs: ['node test/mcp-conformance/run-conformance.ts'],
  },
  'test:package': {
    what: "the client's package on Node 22 and 24, Bun and Deno",
    runs: ['node test/package/run-package.ts'],
  },
  mutants: {
    what: 'plants faults in src/, and says which of them no test finds; `--seed 7`',
    runs: ['node test/mutants/run-mutants.ts'],
  },
  'test:prices': {
    what: "compares the table of prices with LiteLLM's, by provider",
    runs: ['node test/prices/run-prices.ts'],
  },
  canary: {
    what: 'simulates canaries: how many are ended although nothing is worse, and how soon a worse version is seen',
    runs: ['node test/prompts/evaluations/canaries/run-canary.ts'],
  },
  'test:nightly': {
    what: 'the seven before, then all tests with ten times the generated cases, on every engine that is there',
    runs: [
      ...[
        'test:generators',
        'test:python-receiver',
        'test:python-sdks',
        'test:npm-sdks',
        'test:mcp',
        'test:package',
        'test:prices',
      ],
      'env TEST_NIGHTLY=on npm test',
      'env TEST_NIGHTLY=on npm run test:system --',
    ],
  },

  'bench:against': {
    what: 'this working tree and an earlier COMMIT side by side: CPU and latency for each kind of request',
    runs: ['node test/bench/against.ts'],
  },
  'bench:dashboard': {
    what: 'first load of the dashboard, and scrolling through 100,000 deliveries',
    runs: ['node test/bench/dashboard.ts'],
  },
  'bench:deliveries': { what: 'lists and counts of 100,000 deliveries', runs: ['node test/bench/delivery-lists.ts'] },
  'bench:orders': { what: 'lists and counts of a million orders', runs: ['node test/bench/order-lists.ts'] },
  'bench:invocations': {
    what: 'lists and counts of a day with a million invocations',
    runs: ['node test/bench/invocation-lists.ts'],
  },
  'bench:feed': { what: 'streams of the feed of events: idle, and with orders', runs: ['node test/bench/feed.ts'] },
  'bench:webhooks': { what: 'orders placed, deliveries verified', runs: ['node test/bench/webhooks.ts'] },
};

/** What ends a program: also that which it runs. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs a command until it ends. @returns its exit code */
async function runCommand(line: string, args: readonly string[]): Promise<number> {
  // npm has the folder of the packages' commands in PATH.
  const child = spawn('sh', ['-c', `exec ${line} "$@"`, 'sh', ...args], { stdio: 'inherit' });
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of signals) process.on(signal, pass);
  const [code] = (await once(child, 'exit')) as [number | null];
  for (const signal of signals) process.off(signal, pass);
  return code ?? 1;
}

/** @returns its exit code */
async function run({ runs }: Program, args: readonly string[]): Promise<number> {
  for (const [index, line] of runs.entries()) {
    const more = index === runs.length - 1 ? args : [];
    const other = programs[line];
    const code = await (other === undefined ? runCommand(line, more) : run(other, more));
    if (code !== 0) return code;
  }
  return 0;
}

const [name = '', ...args] = process.argv.slice(2);
const program = programs[name];
if (program === undefined) {
  const lines = Object.entries(programs).map(([each, { what }]) => `  ${each.padEnd(24)}${what}\n`);
  const mistake = name === '' ? '' : `There is no program ${name}.\n\n`;
  process.stdout.write(`${mistake}npm run program -- NAME [ARGUMENTS]\n\n${lines.join('')}`);
}
process.exitCode = program === undefined ? Number(name !== '') : await run(program, args);
