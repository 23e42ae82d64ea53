import type { Excuse } from '../bin/verdict.mjs';

export const quick: readonly string[];
export const gate: readonly string[];
export const longForm: readonly string[];
export const cloud: readonly string[];
export const flaky: readonly Excuse[];
export const strict: readonly string[];
export const expected: { readonly passed: number; readonly skipped: Readonly<Record<string, number>> };
