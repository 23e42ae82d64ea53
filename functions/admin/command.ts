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

/** What a command can be given, and how it is said to somebody who gave something else. */
export const kinds = {
  text: { is: (value) => typeof value === 'string', means: 'a text' },
  /** For what DynamoDB would not take: an empty sort key. */
  word: { is: (value) => typeof value === 'string' && value !== '', means: 'a text, and not an empty one' },
  texts: { is: isTexts, means: 'a list of texts' },
  number: { is: isNumber, means: 'a whole number, not below 0' },
  flag: { is: (value) => typeof value === 'boolean', means: 'true or false' },
  /** A number of one's own, or the deployment's. */
  choice: { is: (value) => value === 'default' || isNumber(value), means: 'a whole number, not below 0, or "default"' },
  /** What a request of the API would have in its document. */
  fields: { is: isFields, means: 'names with texts or lists of texts' },
} as const satisfies Readonly<Record<string, { readonly is: (value: unknown) => boolean; readonly means: string }>>;

interface Values {
  readonly text: string;
  readonly word: string;
  readonly texts: readonly string[];
  readonly number: number;
  readonly flag: boolean;
  readonly choice: number | 'default';
  readonly fields: Readonly<Record<string, string | readonly string[] | undefined>>;
}

type Kind = keyof typeof kinds;

/** What a command takes: the kind of each, and behind it `?` if it may be left out. */
export type Takes = Readonly<Record<string, Kind | `${Kind}?`>>;

type Value<Of> = Of extends `${infer Plain extends Kind}?` ? Values[Plain] : Of extends Kind ? Values[Of] : never;
type Optional<All extends Takes> = { [Name in keyof All]: All[Name] extends Kind ? never : Name }[keyof All];

/** What a command is given. */
export type Given<All extends Takes> = { readonly [Name in Exclude<keyof All, Optional<All>>]: Value<All[Name]> } & {
  readonly [Name in Optional<All>]?: Value<All[Name]> | undefined;
};

/** A command: what it takes, and what it does with it. Its result must be no other once it was JSON. */
export interface AdministrationCommand<All extends Takes, Result> {
  readonly takes: All;
  /** @throws AccountRefusal, Refusal, S3Error: why it cannot be done */
  readonly act: (deps: AdministrationDeps, given: Given<All>) => Promise<Result>;
}

export function command<const All extends Takes, Result>(
  takes: All,
  act: AdministrationCommand<All, Result>['act'],
): AdministrationCommand<All, Result> {
  return { takes, act };
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

function isNumber(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function isFields(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((one) => one === undefined || typeof one === 'string' || isTexts(one));
}
