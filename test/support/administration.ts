import { expect } from 'vitest';
import { runProgram } from './program.ts';

/** Runs a command of administration on a data directory, which must succeed, and reads what it prints with `--json`. */
export async function administer<Answer>(data: string, ...args: string[]): Promise<Answer> {
  const { code, stdout, stderr } = await runProgram([...args, '--data', data, '--json']);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Answer;
}

/** A key as `key create` and `key rotate` print it. */
export interface MadeKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly user: string;
}

/** Makes a customer, a project and a user with a key. */
export async function makeKey(data: string, user: string): Promise<MadeKey> {
  const [, project, customer] = /^(.*):.*@(.*)$/.exec(user)!;
  await administer(data, 'customer', 'create', customer!);
  await administer(data, 'project', 'create', `${project}@${customer}`);
  await administer(data, 'user', 'create', user);
  return administer<MadeKey>(data, 'key', 'create', user);
}
