import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const express = { group: ['express'], message: 'Express belongs to src/http and src/app.ts.' };
const mongo = {
  group: ['mongodb'],
  message: 'Only src/db and *-store.ts files talk to MongoDB.',
};
const aws = { group: ['@aws-sdk/*'], message: 'Only src/blobs talks to object storage.' };
const restrict = (...patterns) => ({ 'no-restricted-imports': ['error', { patterns }] });

export default tseslint.config(
  {
    ignores: [
      'dist/**',
      '**/generated/**',
      'node_modules/**',
      'data/**',
      'clients/*/dist/**',
      'test/package/project/**',
      'test/sdks/npm/**',
      'test/generators/callers/**',
    ],
  },
  ...tseslint.configs.strict,
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  { files: ['clients/dashboard/**/*.{ts,tsx}'], ...reactHooks.configs.flat['recommended-latest'] },
  // The type of a text function follows from what it returns, and is the same for all languages.
  {
    files: ['clients/dashboard/src/texts/**'],
    rules: { '@typescript-eslint/explicit-module-boundary-types': 'off' },
  },
  // What a feature hands up follows from what it connects.
  { files: ['src/*/feature.ts'], rules: { '@typescript-eslint/explicit-module-boundary-types': 'off' } },
  { files: ['src/**/*.ts'], rules: restrict(express, mongo, aws) },
  { files: ['src/http/**/*.ts', 'src/app.ts'], rules: restrict(mongo, aws) },
  { files: ['src/db/**/*.ts', 'src/**/*-store.ts'], rules: restrict(express, aws) },
  { files: ['src/blobs/**/*.ts'], rules: restrict(express, mongo) },
  { files: ['src/codegen/**/*.ts', 'test/**'], rules: { 'no-console': 'off' } },
);
