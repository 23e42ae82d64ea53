import { ESLint } from 'eslint';
import { expect, it } from 'vitest';

const eslint = new ESLint();

/** The rules that a line of source breaks. */
async function brokenRules(code: string): Promise<readonly (string | null)[]> {
  const [result] = await eslint.lintText(code, { filePath: 'bin/example.mjs' });
  return result!.messages.map(({ ruleId }) => ruleId);
}

it.each([
  ['export const blanks = /^[ \\t]+|[ \\t]+$/g;'],
  ['export const path = /^(.*)\\/(.*)\\.ts$/;'],
  ['export const twice = /^(?:a+)+$/;'],
  ['export const counted = /^(?:a{1,12})+$/;'],
])('lint refuses a pattern whose time grows faster than the text: %s', async (code) => {
  expect(await brokenRules(code)).toContain('stillage/linear-patterns');
});

it('lint refuses a pattern that is not known before it runs', async () => {
  expect(await brokenRules('export const made = (name) => new RegExp(`^${name}$`);')).toEqual([
    'stillage/linear-patterns',
  ]);
});

it.each([
  ["console.log('a  b'.replace(/[ \\t]+/g, ' '));"],
  // Linear because of the count alone.
  ['export const counted = /^[ab]{0,12}b[^c]*$/;'],
])('lint takes one pass: %s', async (code) => {
  expect(await brokenRules(code)).toEqual([]);
});
