import js from '@eslint/js';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';
import { handledOutcomes } from './bin/handled-outcomes.mjs';
import { linearPatterns } from './bin/linear-patterns.mjs';

/** A focused test hides the others and a skipped one hides itself: a test that cannot run calls `context.skip(reason)`. */
const noSkippedOrFocusedTests = ['it', 'test', 'describe'].flatMap((object) =>
  ['only', 'skip', 'todo'].map((property) => ({
    object,
    property,
    message: `${object}.${property} must not be committed; a test that needs something absent calls context.skip(reason).`,
  })),
);

export default tseslint.config(
  { ignores: ['dist', 'cdk.out', 'coverage', 'node_modules'] },
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-restricted-properties': ['error', ...noSkippedOrFocusedTests],
      eqeqeq: 'error',
    },
  },
  {
    // One text that a client sends must not hold up all the others.
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignoreSticky: true }],
    },
  },
  { plugins: { stillage: { rules: { 'handled-outcomes': handledOutcomes, 'linear-patterns': linearPatterns } } } },
  { files: ['shared/**', 'functions/**', 'infra/**', 'bin/*.mjs'], rules: { 'stillage/linear-patterns': 'error' } },
  { files: ['shared/**/*.ts', 'functions/**/*.ts'], rules: { 'stillage/handled-outcomes': 'error' } },
  {
    files: ['bin/**', 'console/*.mjs', 'test/**/*.mjs', '*.js', '*.mjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        require: 'readonly',
        URL: 'readonly',
        module: 'readonly',
        Buffer: 'readonly',
        __dirname: 'readonly',
      },
    },
  },
);
