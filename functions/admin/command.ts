import * as z from 'zod/mini';
import type { Administration } from '../../shared/metadata/accounts/administration.ts';
import type { KeyAdministration } from '../../shared/metadata/accounts/key-administration.ts';
import type { Buckets } from '../../shared/metadata/buckets/buckets.ts';
import type { Monitoring } from '../../shared/metadata/monitoring/monitoring.ts';
import type { Objects } from '../../shared/metadata/objects/objects.ts';
import type { PublicLinks } from '../../shared/metadata/objects/public-links.ts';
import type { Usage } from '../../shared/metadata/quotas/usage.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { KeyValueTable } from '../../shared/ports/key-value-table.ts';
import type { Limits } from '../../shared/protocol/limits.ts';

/** How the service was set up that is administered. */
export interface ServiceSettings {
  readonly limits: Limits;
  /** The address that clients are configured with, without a slash at the end. */
  readonly endpoint: string;
  /** What the URLs of public links begin with, without a slash at the end. */
  readonly publicUrl: string;
  /** The region that the service says it is. */
  readonly region: string;
}

/** The deps that commands of administration work in. */
export interface AdministrationDeps {
  readonly accounts: Administration;
  readonly keys: KeyAdministration;
  readonly buckets: Buckets;
  readonly objects: Objects;
  readonly usage: Usage;
  readonly publicLinks: PublicLinks;
  readonly monitoring: Monitoring;
  readonly table: KeyValueTable;
  readonly clock: Clock;
  readonly settings: ServiceSettings;
}

const text = z.string('a text');
const texts = z.readonly(z.array(z.string('a list of texts'), 'a list of texts'));
const word = 'a text, and not an empty one';
const wholeNumber = 'a whole number, not below 0';
const number = z.int(wholeNumber).check(z.minimum(0, wholeNumber));
const choice = `${wholeNumber}, or "default"`;
const fields = 'names with texts or lists of texts';

/** What a command may be given. The message of each completes "… must be". */
export const argument = {
  text,
  /** For what DynamoDB would refuse: an empty sort key. */
  word: z.string(word).check(z.minLength(1, word)),
  texts,
  number,
  flag: z.boolean('true or false'),
  /** An amount, or the deployment's. */
  choice: z.union([z.literal('default'), number], choice),
  /** The fields of a request's document. */
  fields: z.readonly(z.record(z.string(), z.optional(z.union([z.string(), texts], fields)), fields)),
} as const;

/** An argument that may be left out. */
export const optional = z.optional;

/** A command: what it takes, and what it does with it. */
export interface AdministrationCommand<Takes extends z.core.$ZodShape, Result> {
  readonly takes: z.ZodMiniObject<Takes, z.core.$strict>;
  /**
   * Checks what it is given, and does its work. The result is one that JSON can carry.
   * @param name its own, for refusals
   * @throws AccountRefusal, Refusal, S3Error: why it cannot be done
   */
  run(name: string, deps: AdministrationDeps, given: unknown): Promise<Result>;
}

/** Declares a command. */
export function command<const Takes extends z.core.$ZodShape, Result>(
  takes: Takes,
  act: (deps: AdministrationDeps, given: z.output<z.ZodMiniObject<Takes, z.core.$strict>>) => Promise<Result>,
): AdministrationCommand<Takes, Result> {
  const schema = z.strictObject(takes);
  const run = async (name: string, deps: AdministrationDeps, given: unknown): Promise<Result> => {
    const { success, data, error } = schema.safeParse(given);
    if (success) return act(deps, data);
    throw new Refusal(refusalOf(name, error.issues[0]!));
  };
  return { takes: schema, run };
}

/** The first argument that is missing, unknown or of another kind, in one line. */
function refusalOf(name: string, issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `${name} does not take ${issue.keys.join(', ')}`;
  return `${name}: ${String(issue.path[0])} must be ${issue.message}`;
}

/** What an operator asked for cannot be done: one line that says why, and what to do. */
export class Refusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Refusal';
  }
}

/** Those that are there. */
export function present<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };
}
