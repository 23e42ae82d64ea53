import * as z from 'zod/mini';
import type { Jobs } from './jobs.ts';
import { result } from './results.ts';
import type { Administration } from '../../shared/accounts/administration.ts';
import type { UserPolicies } from '../../shared/accounts/user-policies.ts';
import type { Operators, Scope } from '../../shared/accounts/operators.ts';
import type { KeyAdministration } from '../../shared/accounts/key-administration.ts';
import type { EventQueue } from '../../shared/events/event-queue.ts';
import type { WebhookTargets } from '../../shared/events/webhook-targets.ts';
import type { Buckets } from '../../shared/storage/buckets/buckets.ts';
import type { Monitoring } from '../../shared/monitoring/compose-monitoring.ts';
import type { Objects } from '../../shared/storage/objects/objects.ts';
import type { PublicLinks } from '../../shared/storage/objects/public-links.ts';
import type { Usage } from '../../shared/storage/quotas/usage.ts';
import type { Uploads } from '../../shared/storage/uploads/uploads.ts';
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
  /** Whether it has an audit log that takes requests for data. */
  readonly auditsData: boolean;
}

/** The dependencies of administrative commands. */
export interface AdministrationDeps {
  readonly accounts: Administration;
  readonly operators: Operators;
  readonly keys: KeyAdministration;
  readonly policies: UserPolicies;
  readonly buckets: Buckets;
  readonly objects: Objects;
  readonly uploads: Pick<Uploads, 'openPage' | 'abort'>;
  readonly usage: Usage;
  readonly publicLinks: PublicLinks;
  readonly monitoring: Monitoring;
  readonly webhooks: WebhookTargets;
  readonly eventQueue: EventQueue;
  readonly table: KeyValueTable;
  readonly clock: Clock;
  readonly settings: ServiceSettings;
  /** Undefined: no service runs here that could do them. */
  readonly jobs: Jobs | undefined;
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
  oneOf: <const Words extends readonly [string, ...string[]]>(words: Words) =>
    z.enum(words, `one of ${words.join(', ')}`),
  /** An amount, or `default` for that of the deployment. */
  choice: z.union([z.literal('default'), number], choice),
  /** The fields of a request document. */
  fields: z.readonly(z.record(z.string(), z.optional(z.union([z.string(), texts], fields)), fields)),
} as const;

/** Makes an argument optional. */
export const optional = z.optional;

/** The most entries of a page, and how many it has if nobody asks for another number. */
const most = 1000;
const usual = 200;
const limit = `a whole number from 1 to ${most}`;
const place = 'the next of another page of this list';

/**
 * Declares the arguments of a list in pages.
 * @param isPlace tells whether a text may be the `next` of one of its pages
 */
export function paged(isPlace: (text: string) => boolean) {
  return {
    after: z.optional(z.string(place).check(z.refine(isPlace, place))),
    limit: z.optional(z.int(limit).check(z.minimum(1, limit), z.maximum(most, limit))),
  } as const;
}

/** Returns the part of a list that is asked for. */
export function partOf({ after, limit: asked = usual }: { after?: string | undefined; limit?: number | undefined }) {
  return { after, limit: asked };
}

/** Refuses a place that is in a list, but not in the part of it that is asked for. @throws InvalidArguments */
export function checkPlace(name: string, isPlace: boolean): void {
  if (!isPlace) throw new InvalidArguments(`${name}: after must be ${place}`);
}

/** An administrative command, by a name such as `customer create`. */
export interface AdministrationCommand<Given, Result> {
  readonly name: string;
  /** What an operator needs to carry it out over HTTP. */
  readonly scope: Scope;
  /** The schema of its arguments. */
  readonly takes: z.core.$ZodType;
  /** The schema of its result, for descriptions: results are not checked. */
  readonly gives: z.core.$ZodType;
  /**
   * Checks the arguments and carries out the command. Returns a result that JSON can represent.
   * @throws AccountRefusal, Refusal or S3Error with the reason of a refusal
   */
  run(this: void, deps: AdministrationDeps, given: Given): Promise<Result>;
}

/** The path below which operators administer a service over HTTP. */
export const adminPath = '/_stillage/admin/v1';

/** Returns the path of a command: `/_stillage/admin/v1/quota/set/bucket`. */
export function pathOf(command: string): string {
  return `${adminPath}/${command.replaceAll(' ', '/')}`;
}

/** The result of a command. */
export type ResultOf<Command> = Command extends AdministrationCommand<never, infer Result> ? Result : never;

/** Carries out commands, on this machine or in the cloud. @throws Error with one line that says why a command was refused */
export type Ask = <Given extends object, Result>(
  command: AdministrationCommand<Given, Result>,
  given: Given,
) => Promise<Result>;

/** Declares a command. */
export function command<
  const Takes extends z.core.$ZodShape,
  Gives extends z.core.$ZodType,
  Result extends z.output<Gives>,
>(
  name: string,
  scope: Scope,
  takes: Takes,
  gives: Gives,
  act: (deps: AdministrationDeps, given: z.output<z.ZodMiniObject<Takes, z.core.$strict>>) => Promise<Result>,
): AdministrationCommand<z.output<z.ZodMiniObject<Takes, z.core.$strict>>, Result> {
  const schema = z.strictObject(takes);
  const run = async (deps: AdministrationDeps, given: unknown): Promise<Result> => {
    const { success, data, error } = schema.safeParse(given);
    if (success) return act(deps, data);
    throw new InvalidArguments(refusalOf(name, error.issues[0]!));
  };
  return { name, scope, takes: schema, gives, run };
}

/** Declares the commands that suspend and resume something that is named by an argument of its kind. */
export function suspending(
  kind: string,
  act: (deps: AdministrationDeps, name: string, isSuspended: boolean) => Promise<void>,
): Record<'suspend' | 'resume', AdministrationCommand<Readonly<Record<string, string>>, void>> {
  const change = (verb: 'suspend' | 'resume'): AdministrationCommand<Readonly<Record<string, string>>, void> =>
    command(`${kind} ${verb}`, 'manage', { [kind]: argument.text }, result.nothing, (deps, given) =>
      act(deps, given[kind]!, verb === 'suspend'),
    );
  return { suspend: change('suspend'), resume: change('resume') };
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

/** A command whose arguments are missing, unknown or invalid. */
export class InvalidArguments extends Refusal {}

/** Returns the fields that are not undefined. */
export function present<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };
}
