import { afterEach, describe, expect, it, vi } from 'vitest';
import { operations } from '../../functions/operations.ts';
import { Accounts } from '../../shared/accounts/accounts.ts';
import { Buckets } from '../../shared/storage/buckets/buckets.ts';
import { RequestAuthorisation } from '../../shared/protocol/authorisation/request-authorisation.ts';
import type { OperationName } from '../../shared/protocol/operation-table.ts';
import { VersionChain } from '../../shared/storage/version-changes/version-chain.ts';
import { samples } from './hostile-requests.ts';
import { idle, meddlings, prepareHostile, type Meddling } from './hostile-world.ts';
import { explore, type Exploration } from './scheduler.ts';

/*
 * A tenant whose requests are held until what they were authorised on has been revoked. Every operation that writes is combined with every
 * such change, between any two of its accesses to the table; docs/security.md says what must hold.
 */

const writing = [...operations.values()].filter(({ needs }) => needs.table === 'write').map(({ name }) => name);

/** Explores every schedule of each request of an operation. */
async function explored(
  operation: OperationName,
  meddling: Meddling,
  freeChecks: boolean,
): Promise<readonly Exploration[]> {
  const all: Exploration[] = [];
  for (const sample of samples[operation] ?? []) {
    all.push(await explore(await prepareHostile({ operation, sample, meddling, freeChecks })));
  }
  return all;
}

describe('a request for each operation that writes', () => {
  it.each(writing)('%s', async (operation) => {
    const own = samples[operation] ?? [];
    expect(own.length, `test/model/hostile-requests.ts needs a request for ${operation}`).toBeGreaterThan(0);
    for (const sample of own) {
      const meddling = { ...idle, versioned: true } as const;
      const build = await prepareHostile({ operation, sample, meddling, freeChecks: true });
      const { answers } = build();
      await explore(() => Object.assign(build(), { answers }));
      expect(
        [...answers].every((status) => status < 300),
        `${operation} answers ${[...answers].join()}`,
      ).toBe(true);
    }
  });
});

const modes = [
  ['where further conditions are free', true],
  ['where they are not', false],
] as const;

describe.each(modes)('%s', (_, freeChecks) => {
  describe.each(Object.entries(meddlings))('%s', (_title, meddling) => {
    it.each(writing)('%s', async (operation) => {
      for (const { failure, complete, ends } of await explored(operation, meddling, freeChecks)) {
        expect(failure && `${failure.what}\n  ${failure.trace.join('\n  ')}`).toBeUndefined();
        expect(complete).toBe(true);
        expect(ends).toBeGreaterThan(0);
      }
    });
  });
});

/** Removes one check from the product. */
interface Mutation {
  readonly takeOut: () => void;
  readonly operation: OperationName;
  readonly meddling: keyof typeof meddlings;
  readonly freeChecks: boolean;
}

/** The original methods, to be called by their replacements. */
const original = {
  confirm: Reflect.get(RequestAuthorisation.prototype, 'confirm'),
  commitConditions: Reflect.get(Buckets.prototype, 'commitConditions'),
  find: Reflect.get(Accounts.prototype, 'find'),
  remove: Reflect.get(VersionChain.prototype, 'remove'),
  revise: Reflect.get(VersionChain.prototype, 'revise'),
} as const;

const mutations: Readonly<Record<string, Mutation>> = {
  'rights to the bucket are not confirmed': {
    takeOut: () => vi.spyOn(RequestAuthorisation.prototype, 'confirm').mockResolvedValue([]),
    ...{ operation: 'PutBucketCors', meddling: 'its ACLs are revoked', freeChecks: true },
  },
  'the version is not looked at': {
    takeOut: () =>
      vi.spyOn(RequestAuthorisation.prototype, 'confirmVersion').mockImplementation(function (
        this: RequestAuthorisation,
        bucket,
      ) {
        return original.confirm.call(this, bucket);
      }),
    ...{ operation: 'PutObjectAcl', meddling: 'the key is created', freeChecks: true },
  },
  'a commit does not hang on the rights': {
    takeOut: () =>
      vi.spyOn(Buckets.prototype, 'commitConditions').mockImplementation(function (this: Buckets, bucket) {
        return original.commitConditions.call(this, bucket);
      }),
    ...{ operation: 'DeleteObject', meddling: 'its ACLs are revoked', freeChecks: true },
  },
  'a rare commit does not hang on the rights': {
    takeOut: () => vi.spyOn(Buckets.prototype, 'exactConditions').mockReturnValue([]),
    ...{ operation: 'CreatePublicLink', meddling: 'the key is suspended', freeChecks: true },
  },
  'a commit does not hang on the account': {
    takeOut: () =>
      vi.spyOn(Accounts.prototype, 'find').mockImplementation(async function (this: Accounts, ...asked) {
        const key = await original.find.apply(this, asked);
        return key && { ...key, unchanged: [] };
      }),
    ...{ operation: 'PutBucketTagging', meddling: 'the user is suspended', freeChecks: true },
  },
  'a change by IAM does not hang on the account': {
    takeOut: () =>
      vi.spyOn(Accounts.prototype, 'find').mockImplementation(async function (this: Accounts, ...asked) {
        const key = await original.find.apply(this, asked);
        return key && { ...key, unchanged: [] };
      }),
    ...{ operation: 'Iam', meddling: 'the user is suspended', freeChecks: false },
  },
  'no look right before a commit': {
    takeOut: () => vi.spyOn(Buckets.prototype, 'confirmedFor').mockImplementation(async (bucket) => bucket),
    ...{ operation: 'PutObjectTagging', meddling: 'the policy that allowed is removed', freeChecks: false },
  },
  'a removal takes no notice of locks': {
    takeOut: () =>
      vi.spyOn(VersionChain.prototype, 'remove').mockImplementation(function (this: VersionChain, current, target) {
        return original.remove.call(this, current, target, 'own');
      }),
    ...{ operation: 'DeleteObject', meddling: 'what is there is locked', freeChecks: true },
  },
  'a lock leaves the write token': {
    takeOut: () =>
      vi.spyOn(VersionChain.prototype, 'revise').mockImplementation(function (this: VersionChain, found, revised) {
        const changes = original.revise.call(this, found, revised);
        return changes.map((change) =>
          'put' in change ? { ...change, put: { ...change.put, r: found.version.token } } : change,
        );
      }),
    ...{ operation: 'DeleteObject', meddling: 'what is there is locked', freeChecks: true },
  },
  'no look after a body that was waited for': {
    takeOut: () => vi.spyOn(Buckets.prototype, 'renewed').mockImplementation(async (bucket) => bucket),
    ...{ operation: 'DeleteObject', meddling: 'its ACLs are revoked', freeChecks: false },
  },
};

describe('a check that is taken out is missed', () => {
  afterEach(() => void vi.restoreAllMocks());

  it.each(Object.entries(mutations))('%s', async (_, { takeOut, operation, meddling, freeChecks }) => {
    takeOut();
    const found = await explored(operation, meddlings[meddling], freeChecks);
    expect(found.some(({ failure }) => failure !== undefined)).toBe(true);
  });
});
