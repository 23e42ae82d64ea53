import { expect } from 'vitest';
import type { Run } from '../programs/program.ts';
import { runWarm } from '../programs/warm-program.ts';

/** The target of administrative commands: a data directory or a deployment. */
export interface Place {
  /** The options that name it on the command line. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A data directory. */
export function onData(data: string): Place {
  return { args: ['--data', data], env: {} };
}

/** Runs a command on a target. A string is the path of a data directory. */
export function runAt(place: Place | string, args: readonly string[]): Promise<Run> {
  const { args: where, env } = typeof place === 'string' ? onData(place) : place;
  return runWarm([...args, ...where], env);
}

/** Runs a command, which must succeed, and returns its output with `--json`. */
export async function administer<Answer>(place: Place | string, ...args: string[]): Promise<Answer> {
  const { code, stdout, stderr } = await runAt(place, [...args, '--json']);
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
export async function makeKey(place: Place | string, user: string): Promise<MadeKey> {
  const [, project, customer] = /^([^:]*):[^@]*@([^@]*)$/.exec(user)!;
  await administer(place, 'customer', 'create', customer!);
  await administer(place, 'project', 'create', `${project}@${customer}`);
  await administer(place, 'user', 'create', user);
  return administer<MadeKey>(place, 'key', 'create', user);
}
