import { readFile } from 'node:fs/promises';
// A namespace import, so that the bundle takes what is used and not the messages in fifty languages.
import * as z from 'zod';
import type { ProjectDeclaration } from '../../../shared/accounts/accounts.ts';
import { namePattern, nameRule } from '../../../shared/access/account-names.ts';
import type { InitialKey } from '../../../shared/command-line/start-options.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';

/** A declared access key. */
const accessKeySchema = z.strictObject({
  accessKeyId: z
    .string()
    .min(1)
    .max(128)
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces'),
  secretAccessKey: z.string().min(1).max(256),
});

const user = z.strictObject({
  name: z.string().regex(namePattern, `a name ${nameRule}`),
  keys: z.array(accessKeySchema).default([]),
});

function isProjectName(text: string): boolean {
  const names = text.split('@');
  return names.length === 2 && names.every((name) => namePattern.test(name));
}

const project = z
  .strictObject({
    project: z.string().refine(isProjectName, `must have the form project@customer, where each ${nameRule}`),
    id: z
      .string()
      .min(1)
      .max(128)
      .regex(/^[^\s/]+$/, 'must not contain white space or "/"'),
    displayName: z.string().min(1).max(128).optional(),
    users: z.array(user).default([]),
  })
  .transform((one) => ({ ...one, displayName: one.displayName ?? one.project }));

const accounts = z.array(project);

/**
 * Reads the file of `--accounts`: a JSON list of projects to create if missing, with their users and keys.
 * @throws OperatorError that names the file and the place of the first mistake
 */
export async function readAccountsFile(path: string): Promise<readonly ProjectDeclaration[]> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new OperatorError(`--accounts: cannot read ${path}: ${(cause as Error).message}`);
  });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new OperatorError(`--accounts: ${path} is not JSON${place(text, cause as Error)}`);
  }
  const parsed = accounts.safeParse(json);
  if (parsed.success) return refuseRepeats(path, parsed.data);
  const issue = parsed.error.issues[0]!;
  throw new OperatorError(`--accounts: ${path}: ${pathOf(issue.path)}: ${issue.message}`);
}

/** Returns where the parser stopped. The message of the parser would quote the file, which holds secrets. */
function place(text: string, { message }: Error): string {
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position === undefined) return '';
  const before = text.slice(0, Number(position)).split('\n');
  return `: line ${before.length}, column ${before.at(-1)!.length + 1}`;
}

/** Returns the key if it is valid. @param name names its source in the message @throws OperatorError otherwise */
export function checkedKey(key: InitialKey, name: string): InitialKey {
  const { error } = accessKeySchema.safeParse(key);
  if (error) throw new OperatorError(`${name}: ${error.issues[0]!.path.join('.')}: ${error.issues[0]!.message}`);
  return key;
}

function refuseRepeats(path: string, declared: readonly ProjectDeclaration[]): readonly ProjectDeclaration[] {
  const seen = new Set<string>();
  for (const { project: email, id, users } of declared) {
    const keys = users.flatMap((one) => one.keys.map(({ accessKeyId }) => `accessKeyId ${accessKeyId}`));
    for (const name of [`project ${email}`, `id ${id}`, ...keys]) {
      if (seen.has(name)) throw new OperatorError(`--accounts: ${path}: ${name} is declared twice`);
      seen.add(name);
    }
  }
  return declared;
}

/** Formats a path: `[0].users[1].name`. */
function pathOf(path: readonly PropertyKey[]): string {
  return path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('') || 'the document';
}
