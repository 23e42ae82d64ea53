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

/** The settings of the administered service. */
export interface ServiceSettings {
  readonly limits: Limits;
  /** The endpoint for clients, without a trailing slash. */
  readonly endpoint: string;
  /** The base URL of public links, without a trailing slash. */
  readonly publicUrl: string;
  /** The region of the service. */
  readonly region: string;
}

/** The dependencies of administrative commands. */
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

const text = z.string('a string');
const texts = z.readonly(z.array(z.string('a list of strings'), 'a list of strings'));
const word = 'a string that is not empty';
const wholeNumber = 'a whole number of at least 0';
const number = z.int(wholeNumber).check(z.minimum(0, wholeNumber));
const choice = `${wholeNumber}, or "default"`;
const fields = 'an object of strings and lists of strings';

/** Schemas of arguments. The message of each completes "… must be". */
export const argument = {
  text,
  /** A string that is not empty, as DynamoDB refuses empty sort keys. */
  word: z.string(word).check(z.minLength(1, word)),
  texts,
  number,
  flag: z.boolean('true or false'),
  /** An amount, or `default` for that of the deployment. */
  choice: z.union([z.literal('default'), number], choice),
  /** The fields of a request document. */
  fields: z.readonly(z.record(z.string(), z.optional(z.union([z.string(), texts], fields)), fields)),
} as const;

/** Makes an argument optional. */
export const optional = z.optional;

/** An administrative command. */
export interface AdministrationCommand<Takes extends z.core.$ZodShape, Result> {
  readonly takes: z.ZodMiniObject<Takes, z.core.$strict>;
  /**
   * Checks the arguments and carries out the command. Returns a result that JSON can represent.
   * @param name the name of the command, for refusals
   * @throws AccountRefusal, Refusal or S3Error with the reason of a refusal
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

/** Names the first argument that is missing, unknown or invalid, in one line. */
function refusalOf(name: string, issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `${name} does not take ${issue.keys.join(', ')}`;
  return `${name}: ${String(issue.path[0])} must be ${issue.message}`;
}

/** A command that cannot be carried out, with one line that says why and what to do. */
export class Refusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Refusal';
  }
}

/** Returns the fields that are not undefined. */
export function present<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };
}
