import { people } from '../../messages/people.ts';
import type { S3Client } from '../../s3/client.ts';
import { simulate } from '../../s3/iam.ts';

const actionsOf = {
  list: ['s3:ListBucket'],
  read: ['s3:GetObject'],
  write: ['s3:PutObject'],
  delete: ['s3:DeleteObject'],
  settings: [
    's3:PutBucketVersioning',
    's3:PutLifecycleConfiguration',
    's3:PutBucketPolicy',
    's3:PutBucketAcl',
    's3:PutBucketPublicAccessBlock',
    's3:PutEncryptionConfiguration',
    's3:PutBucketWebsite',
    's3:PutBucketCORS',
    's3:PutBucketTagging',
  ],
} as const;

export type Ability = keyof typeof actionsOf;
export const abilities = Object.keys(actionsOf) as Ability[];

/** `some`: of the actions that an ability stands for, some are allowed. */
export type Outcome = 'yes' | 'some' | 'no' | 'denied';

/** Asks what a user may do with the objects of a bucket whose names begin with a prefix. */
export async function askRights(
  client: S3Client,
  arn: string,
  bucket: string,
  prefix: string,
): Promise<ReadonlyMap<Ability, Outcome>> {
  const resource = `arn:aws:s3:::${bucket}`;
  const { list, read, write, settings, delete: removal } = actionsOf;
  const [ofObjects, ofList, ofBucket] = await Promise.all([
    // Any name that begins so: policies that are about single names do not cover it.
    simulate(client, { arn, actions: [...read, ...write, ...removal], resource: `${resource}/${prefix}*` }),
    simulate(client, { arn, actions: list, resource, context: { 's3:prefix': prefix } }),
    simulate(client, { arn, actions: settings, resource }),
  ]);
  const decisions = new Map([...ofObjects, ...ofList, ...ofBucket]);
  return new Map(abilities.map((each) => [each, outcomeOf(actionsOf[each].map((action) => decisions.get(action)))]));
}

/** Returns what the decisions on several actions come to. */
export function outcomeOf(decisions: readonly (string | undefined)[]): Outcome {
  const allowed = decisions.filter((each) => each === 'allowed').length;
  if (allowed > 0) return allowed === decisions.length ? 'yes' : 'some';
  return decisions.every((each) => each === 'explicitDeny') ? 'denied' : 'no';
}

/** Returns whether somebody may do something, in a sentence. */
export function wordsOfRight(ability: Ability, outcome: Outcome): string {
  const texts = people.value;
  const { may, mayNot } = texts.abilities[ability];
  if (outcome === 'yes') return may;
  if (outcome === 'some') return texts.partly;
  return texts.withReason(mayNot, texts.because[outcome === 'denied' ? 'denied' : 'none']);
}
