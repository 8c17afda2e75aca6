/** Which part of the service may import which. `npm run check` holds it. */

/**
 * From the ground up: a wing imports itself and those before it. Above them are `observability/`, `config/` and the files
 * of `src/` itself.
 */
const wings = ['base', 'storage', 'http', 'access', 'webhooks', 'orders', 'models', 'accounting', 'prompts'];
const wiring = '^src/(app|start|start-database|main|server)\\.ts$';
const features = '^src/(access|webhooks|orders|models|accounting|prompts)/';

/** Rooms with stores. Files of a wing that are in no room of it are its first room. */
const rooms = [
  '^src/http/idempotency/',
  ...['api-keys', 'people', 'sessions', 'audit'].map((room) => `^src/access/${room}/`),
  ...homeAndRooms('webhooks', ['integrations']),
  ...homeAndRooms('orders', ['catalog']),
  ...['prices', 'invocations', 'budgets', 'costs', 'statistics'].map((room) => `^src/accounting/${room}/`),
  ...homeAndRooms('prompts', ['generation', 'invoke', 'anthropic', 'openai', 'templates', 'test-runs']),
];

function homeAndRooms(wing, names) {
  return [`^src/${wing}/(?!(${names.join('|')})/)`, ...names.map((name) => `^src/${wing}/${name}/`)];
}

export default {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Two files that import each other, even only types, should be one file, or share a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...wings.map((wing, floor) => ({
      name: `${wing}-is-below`,
      comment: 'A wing imports only itself and the wings below it.',
      severity: 'error',
      from: { path: `^src/${wing}/` },
      to: { path: '^src/', pathNot: `^src/(${wings.slice(0, floor + 1).join('|')})/` },
    })),
    {
      name: 'runtime-is-at-the-bottom',
      comment: 'runtime/ and errors/ import only each other.',
      severity: 'error',
      from: { path: '^src/base/(runtime|errors)/' },
      to: { path: '^src/', pathNot: '^src/base/(runtime|errors)/' },
    },
    {
      name: 'rules-know-no-http',
      comment: 'In a feature, only operations and representations import HTTP.',
      severity: 'error',
      from: { path: features, pathNot: '(-(operations|representation)|/entity-tag)\\.ts$' },
      to: { path: '^src/http/', pathNot: '^src/http/idempotency/' },
    },
    {
      name: 'idempotency-knows-no-http',
      severity: 'error',
      from: { path: '^src/http/idempotency/' },
      to: { path: '^src/http/', pathNot: '^src/http/idempotency/' },
    },
    {
      name: 'operations-are-on-top',
      comment: 'Only app.ts, and the file that connects a feature, import operations.',
      severity: 'error',
      from: { pathNot: '^src/(app|.+/feature)\\.ts$' },
      to: { path: '^src/.*-operations\\.ts$' },
    },
    {
      name: 'features-are-connected-once',
      comment: 'The file that connects a feature is for app.ts.',
      severity: 'error',
      from: { path: '^src/', pathNot: wiring },
      to: { path: '^src/.+/feature\\.ts$' },
    },
    {
      name: 'generation-is-below-its-callers',
      comment: 'Invocations, test runs and the endpoints of other APIs get their answers in one way.',
      severity: 'error',
      from: { path: '^src/prompts/generation/' },
      to: { path: '^src/prompts/(invoke|anthropic|openai|test-runs)/' },
    },
    {
      name: 'providers-are-called-in-one-place',
      comment: 'Only generation/ plans and makes calls, so that no caller has rules of its own for them.',
      severity: 'error',
      from: { path: '^src/prompts/(invoke|anthropic|openai|test-runs)/' },
      to: { path: '^src/models/(call/(?!failures)|transport/|twin/)' },
    },
    ...rooms.map((room) => ({
      name: 'stores-are-private',
      comment: "A feature calls another feature's rules, never its store.",
      severity: 'error',
      from: { path: '^src/', pathNot: [room, wiring] },
      to: { path: `${room}.*-(store|documents)\\.ts$` },
    })),
    {
      name: 'wiring-is-on-top',
      comment: 'Only app.ts, start.ts and main.ts import each other.',
      severity: 'error',
      from: { path: '^src/', pathNot: wiring },
      to: { path: wiring },
    },
    {
      name: 'codegen-is-apart',
      comment: 'Code generation is not part of the running service.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/codegen/' },
      to: { path: '^src/codegen/' },
    },
    {
      name: 'no-tests-in-src',
      severity: 'error',
      from: { path: '^(src|clients)/' },
      to: { path: '^test/' },
    },
    {
      name: 'clients-are-apart',
      comment: 'A client is a separate package. Code that it shares with the service is generated into it.',
      severity: 'error',
      from: { path: '^clients/' },
      to: { path: '^(src|generated)/' },
    },
    {
      name: 'service-knows-no-client',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^clients/' },
    },
    {
      name: 'no-development-packages',
      comment: 'The service runs with `npm ci --omit=dev`.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/codegen/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'express-is-at-the-edge',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(http/|app\\.ts$)' },
      to: { path: '^node_modules/(@types/)?express/' },
    },
    {
      name: 'mongodb-is-behind-stores',
      comment: 'Only src/storage/db and *-store.ts files talk to MongoDB.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(storage/db/|.+-store\\.ts$)' },
      to: { path: '^node_modules/mongodb/' },
    },
    {
      name: 'object-storage-is-behind-blobs',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/storage/blobs/' },
      to: { path: '^node_modules/@aws-sdk/' },
    },
    {
      name: 'no-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '(^|/)generated/', '^dist/', '^clients/[^/]+/dist/'] },
    // Programs of users, compiled with the published package.
    exclude: { path: '^test/(package/project|sdks/npm|generators/callers)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['node', 'import', 'default', 'types'] },
  },
};
