import { visibleName } from '../../format/names.ts';
import { people } from '../../messages/people.ts';
import { accesses, shortPolicy, type Access } from '../../../shared/documents/short-policy.ts';

/** What the form of policies asks. */
export interface ShortForm {
  readonly bucket: string;
  readonly prefix: string;
  readonly access: Access;
}

type Json = Readonly<Record<string, unknown>>;

const bucketArn = 'arn:aws:s3:::';

/** Returns what the form would have to say for a policy; undefined if it cannot. */
export function shortFormOf(text: string): ShortForm | undefined {
  const [policy, ...rest] = statementsOf(text);
  const resource = policy?.['Resource'];
  if (typeof resource !== 'string' || !resource.startsWith(bucketArn)) return undefined;
  const bucket = resource.slice(bucketArn.length);
  const prefix = prefixIn(rest, `${resource}/`);
  const written = compact(text);
  for (const access of accesses)
    if (compact(shortPolicy(bucket, prefix, access)) === written) return { bucket, prefix, access };
  return undefined;
}

/** Returns the prefix that statements seem to be about. Wildcards stand for themselves in it. */
function prefixIn(statements: readonly Json[], beginning: string): string {
  for (const { Resource, Condition } of statements) {
    const pattern =
      typeof Resource === 'string' && Resource.startsWith(beginning)
        ? Resource.slice(beginning.length)
        : (Condition as { StringLike?: Json } | undefined)?.StringLike?.['s3:prefix'];
    if (typeof pattern === 'string' && pattern.endsWith('*'))
      return pattern.slice(0, -1).replace(/\$\{([*?$])\}/g, '$1');
  }
  return '';
}

/** Returns a policy in words, a line for each of its statements. */
export function wordsOfPolicy(text: string): readonly string[] {
  const texts = people.value;
  const short = shortFormOf(text);
  if (short !== undefined) return [texts.shortWords[short.access](placeOf(short))];
  const statements = statementsOf(text);
  return statements.length === 0 ? [texts.unreadable] : statements.map(wordsOfStatement);
}

function wordsOfStatement({ Effect, Action, NotAction, Resource, NotResource, Condition }: Json): string {
  const texts = people.value;
  const actions = listOf(Action, NotAction);
  const resources = listOf(Resource, NotResource);
  const words = Effect === 'Deny' ? texts.deny(actions, resources) : texts.allow(actions, resources);
  return Condition === undefined ? words : `${words}, ${texts.underConditions}`;
}

function listOf(some: unknown, others: unknown): string {
  const texts = people.value;
  const given = [some ?? others ?? []].flat().filter((each) => typeof each === 'string');
  const names = given.map((each) => visibleName(each.replace(bucketArn, '')));
  if (some === undefined) return texts.allBut(names.join(', '));
  return names.includes('*') ? texts.everything : names.join(', ');
}

/** `photos/2026/`: the names that begin so. */
export function placeOf({ bucket, prefix }: Pick<ShortForm, 'bucket' | 'prefix'>): string {
  return visibleName(prefix === '' ? bucket : `${bucket}/${prefix}`);
}

/** The ARN of a managed policy of every project, as of AWS's own. */
export const sharedArn = (name: string): string => `arn:aws:iam::aws:policy/${name}`;

/** Returns what a managed policy allows; undefined for those of the project. */
export function wordsOfManaged(arn: string): string | undefined {
  const known = Object.entries(people.value.managedMeanings).find(([name]) => sharedArn(name) === arn);
  return known?.[1];
}

/** Returns the name of a managed policy. */
export const nameOfArn = (arn: string): string => visibleName(arn.slice(arn.lastIndexOf('/') + 1));

/** Returns a policy as it is edited, with a line for each of its parts. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Returns why a text is no JSON. */
export function jsonFault(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return people.value.notJson((error as Error).message);
  }
}

function statementsOf(text: string): readonly Json[] {
  try {
    const { Statement } = JSON.parse(text) as { Statement?: unknown };
    return [Statement].flat().filter((each): each is Json => typeof each === 'object' && each !== null);
  } catch {
    return [];
  }
}

const compact = (text: string): string => JSON.stringify(JSON.parse(text));
