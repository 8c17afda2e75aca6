/** Which part of the service may import which. `npm run check` holds it. */

/** What knows nothing of this service's domain, or of HTTP. */
const base = '^src/(runtime|errors|fields|limits|editing|lists|secrets|templates|json-schema|outbound|blobs|db)/';
const features =
  'api-keys|audit|budgets|catalog|events|generation|integrations|invocations|invoke|openai|orders|prompts|providers|service|sessions|statistics|test-runs|webhooks';
const wiring = '^src/(app|start|main|server)\\.ts$';

export default {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Two files that import each other, even only types, should be one file, or share a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'base-is-below',
      comment: 'The base imports no feature, no HTTP and no configuration.',
      severity: 'error',
      from: { path: base },
      to: { path: '^src/', pathNot: base },
    },
    {
      name: 'runtime-is-at-the-bottom',
      comment: 'runtime/ and errors/ import only each other.',
      severity: 'error',
      from: { path: '^src/(runtime|errors)/' },
      to: { path: '^src/', pathNot: '^src/(runtime|errors)/' },
    },
    {
      name: 'rules-know-no-http',
      comment: 'In a feature, only operations and representations import HTTP.',
      severity: 'error',
      from: { path: `^src/(${features}|idempotency)/`, pathNot: '(-(operations|representation)|/entity-tag)\\.ts$' },
      to: { path: '^src/http/' },
    },
    {
      name: 'operations-are-on-top',
      comment: 'Only app.ts, and the file that connects a feature, import operations.',
      severity: 'error',
      from: { pathNot: '^src/(app|[^/]+/feature)\\.ts$' },
      to: { path: '^src/.*-operations\\.ts$' },
    },
    {
      name: 'features-are-connected-once',
      comment: 'The file that connects a feature is for app.ts.',
      severity: 'error',
      from: { path: '^src/', pathNot: wiring },
      to: { path: '^src/[^/]+/feature\\.ts$' },
    },
    {
      name: 'http-knows-no-feature',
      comment: 'app.ts passes to the pipeline what it needs from features.',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: `^src/(${features})/` },
    },
    {
      name: 'generation-is-below-its-callers',
      comment: 'Invocations, test runs and the OpenAI-compatible endpoints get their answers in one way.',
      severity: 'error',
      from: { path: '^src/generation/' },
      to: { path: '^src/(invoke|openai|test-runs)/' },
    },
    {
      name: 'providers-are-called-in-one-place',
      comment: 'Only generation/ plans and makes calls, so that no caller has rules of its own for them.',
      severity: 'error',
      from: { path: '^src/(invoke|openai|test-runs)/' },
      to: { path: '^src/providers/(call/(?!failures)|transport|twin)/' },
    },
    {
      name: 'stores-are-private',
      comment: "A feature calls another feature's rules, never its store.",
      severity: 'error',
      from: { path: '^src/([^/]+)/', pathNot: wiring },
      to: { path: '^src/.+-(store|documents)\\.ts$', pathNot: '^src/($1|blobs)/' },
    },
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
      comment: 'Only src/db and *-store.ts files talk to MongoDB.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(db/|.+-store\\.ts$)' },
      to: { path: '^node_modules/mongodb/' },
    },
    {
      name: 'object-storage-is-behind-blobs',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/blobs/' },
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
    doNotFollow: { path: ['node_modules', '(^|/)generated/', '^clients/[^/]+/dist/'] },
    // Programs of users, compiled with the published package.
    exclude: { path: '^test/(package/project|sdks/npm|generators/callers)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['node', 'import', 'default', 'types'] },
  },
};
