import { describe, expect, it } from 'vitest';
import { fullRights, parseIdentityPolicy } from '../../../../shared/access/identity-rights.ts';
import type { IdentityRights } from '../../../../shared/access/identity.ts';
import type { IdentityPolicy } from '../../../../shared/access/policies/policy-rule.ts';
import { person, type Person } from '../../../support/storage/pipeline-in-process.ts';
import {
  isRefused,
  isThrough,
  people as persons,
  rows,
  settings,
  stateOf,
  type Row,
  type Setting,
  type State,
} from './every-request.ts';

/*
 * Every operation, by users and sessions of roles of the bucket's project and of one that its ACL grants everything to, with every kind of policy of their own,
 * boundary and session policy. What is expected follows from what is expected of users with full access and of strangers, by the rules of AWS
 * written down again in `mayPass`: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
 */

const here = ['arn:aws:s3:::bucket', 'arn:aws:s3:::bucket/*'];
const elsewhere = ['arn:aws:s3:::other', 'arn:aws:s3:::bucket-not', 'arn:aws:s3:::other/*'];

/** What each policy says, by what it speaks of: the bucket of the tests, or the service and other buckets. */
const policies = {
  everything: [['Allow', '*']],
  here: [['Allow', here]],
  elsewhere: [['Allow', elsewhere]],
  notHere: [
    ['Allow', '*'],
    ['Deny', here],
  ],
} as const satisfies Readonly<Record<string, readonly (readonly ['Allow' | 'Deny', '*' | readonly string[]])[]>>;

type Name = keyof typeof policies;

function policy(name: Name): IdentityPolicy {
  const Statement = policies[name].map(([Effect, Resource]) => ({ Effect, Action: ['s3:*', 'stillage:*'], Resource }));
  return parseIdentityPolicy(JSON.stringify({ Version: '2012-10-17', Statement }));
}

interface Held {
  /** The project: the bucket's owner, or one with FULL_CONTROL by its ACL. */
  readonly of: 'owner' | 'fullController';
  readonly own: 'FullAccess' | readonly Name[];
  readonly boundary?: Name;
  readonly session?: readonly Name[];
  /** Those of a role, by one of its sessions. */
  readonly isRole?: true;
}

function rightsOf({ own, boundary, session }: Held): IdentityRights {
  if (own === 'FullAccess' && boundary === undefined && session === undefined) return fullRights;
  return {
    policies: own === 'FullAccess' ? fullRights.policies : own.map(policy),
    boundary: boundary && policy(boundary),
    session: session?.map(policy),
  };
}

const projects = ['owner', 'fullController'] as const;
const held: readonly Held[] = projects.flatMap((of): readonly Held[] => [
  { of, own: 'FullAccess' },
  { of, own: [] },
  { of, own: ['everything'] },
  { of, own: ['here'] },
  { of, own: ['elsewhere', 'here'] },
  { of, own: ['elsewhere'] },
  { of, own: ['notHere', 'here'] },
]);
/** Those with limits, which need not be tried under every rule. */
const limitedUsers: readonly Held[] = projects.flatMap((of) =>
  (['FullAccess', ['everything'], []] as const).flatMap((own): readonly Held[] => [
    { of, own, boundary: 'everything' },
    { of, own, boundary: 'here' },
    { of, own, boundary: 'elsewhere' },
    { of, own, boundary: 'notHere' },
    { of, own, session: ['here'] },
    { of, own, session: ['elsewhere', 'here'], boundary: 'here' },
    { of, own, session: ['elsewhere'] },
    { of, own, session: ['notHere'] },
    { of, own, session: [] },
    { of, own, session: ['here'], boundary: 'elsewhere' },
  ]),
);

/** Of the bucket's project: those of others are strangers as users are. */
const roles: readonly Held[] = [...held, ...limitedUsers]
  .filter(({ of, own }) => of === 'owner' && (own === 'FullAccess' || own.length === 0 || own[0] === 'here'))
  .map((one) => ({ ...one, isRole: true }));
const limited: readonly Held[] = [...limitedUsers, ...roles];

/** What one policy says of a request to the bucket, or to the service. */
const says: Readonly<Record<Name, Readonly<Record<'bucket' | 'service', 'allow' | 'deny' | 'none'>>>> = {
  everything: { bucket: 'allow', service: 'allow' },
  here: { bucket: 'allow', service: 'none' },
  elsewhere: { bucket: 'none', service: 'none' },
  notHere: { bucket: 'deny', service: 'allow' },
};

function say(names: readonly Name[], about: 'bucket' | 'service'): 'allow' | 'deny' | 'none' {
  const all = names.map((name) => says[name][about]);
  return all.includes('deny') ? 'deny' : all.includes('allow') ? 'allow' : 'none';
}

/** Parts of an upload belong to the project that began it, so strangers are refused whatever they are allowed. */
const ofUpload: ReadonlySet<string> = new Set(['UploadPart', 'UploadPartCopy', 'CompleteMultipartUpload']);

function mayPass(
  { of, own, boundary, session, isRole }: Held,
  { operation, expected, of: remark }: Row,
  place: Place,
): boolean {
  const setting = place === 'allowed by name' ? 'allowed' : place;
  // Who one is.
  if (operation === 'GetAccount') return true;
  const about = /^(?:ListBuckets|CreateBucket)$|Webhooks?(?:Secret)?$/.test(operation) ? 'service' : 'bucket';
  const verdict = own === 'FullAccess' ? 'allow' : say(own, about);
  const limits = [...(boundary ? [say([boundary], about)] : []), ...(session ? [say(session, about)] : [])];
  if (verdict === 'deny' || limits.includes('deny')) return false;
  // A boundary limits what policies of identities allow, not what that of a bucket allows to the user itself, unless to one of its sessions; a role acts by sessions alone.
  const isLimited = limits.includes('none');
  if (isLimited && (place !== 'allowed by name' || session !== undefined || isRole)) return false;
  if (verdict === 'allow' && !isLimited) return expected[setting].includes(of);
  if (of !== 'owner' || about === 'service') return false;
  // The right to write into a bucket of their own project does not bring that to set tags.
  if (remark === 'with an ACL and tags') return setting === 'allowed';
  if (ofUpload.has(operation)) return setting === 'public' || setting === 'allowed';
  return expected[setting].includes('stranger') && expected[setting].includes('owner');
}

function nameOf({ of, own, boundary, session, isRole }: Held): string {
  return JSON.stringify([of, own, boundary, session, isRole ? 'role' : 'user']);
}

const people = new Map<Held, Person>(
  [...held, ...limited].map((one) => [
    one,
    {
      ...person(nameOf(one).replaceAll(/[^A-Za-z]/g, '-'), one.of),
      rights: rightsOf(one),
      ...(one.isRole && { isRole: true }),
    },
  ]),
);

/** `allowed by name`: as `allowed`, but the policy names each user. */
type Place = Setting | 'allowed by name';

async function stateAt(place: Place): Promise<State> {
  if (place !== 'allowed by name') return stateOf(place, [...people.values()]);
  const state = await stateOf('private', [...people.values()]);
  const AWS = [...people.values()].map(
    ({ key, project, isRole }) => `arn:aws:iam::${project.id}:${isRole ? 'role' : 'user'}/${key.accessKeyId}`,
  );
  const Statement = { Effect: 'Allow', Principal: { AWS }, Action: 's3:*', Resource: here };
  const body = JSON.stringify({ Version: '2012-10-17', Statement });
  const answer = await state.service.send({ method: 'PUT', path: '/bucket', query: 'policy', body }, persons.owner);
  expect(answer.status, answer.text).toBe(204);
  return state;
}

const places: readonly Place[] = [...settings, 'allowed by name'];

describe.each(places)('where a bucket is %s', (place) => {
  const tried = place.startsWith('allowed') || place === 'granted' ? [...held, ...limited] : held;

  it.each(rows.map((row) => [row.of === undefined ? row.operation : `${row.operation}: ${row.of}`, row] as const))(
    '%s',
    async (_, row) => {
      const wrong: string[] = [];
      let state: State | undefined;
      for (const one of tried) {
        state ??= await stateAt(place);
        const { table } = state.service;
        const written = table.feed.length;
        const answer = await state.service.send(row.request(state), people.get(one));
        const isThere = isThrough(answer, row);
        if (isThere !== mayPass(one, row, place)) wrong.push(`${nameOf(one)}: ${answer.status} ${answer.text}`);
        if (!isThere && !isRefused(answer)) wrong.push(`${nameOf(one)}: ${answer.status} ${answer.text}`);
        if (table.feed.length !== written) {
          if (!isThere) wrong.push(`${nameOf(one)}: written`);
          state = undefined;
        }
      }
      expect(wrong).toEqual([]);
    },
  );
});
