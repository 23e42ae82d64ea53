import { beforeAll, describe, expect, it } from 'vitest';
import { administer, makeKey, type MadeKey } from '../support/storage/administration.ts';
import { bucketName } from '../support/clients/clients.ts';
import { changes, done, key, policyOf, stateOf, type Change, type Scene } from '../support/storage/changes.ts';
import { isCloud } from '../support/cloud/deployed.ts';
import { expectError, textOf, textsOf } from '../support/clients/expect-error.ts';
import { HeldRequest } from '../support/clients/held-request.ts';
import { md5Tag } from '../support/storage/objects.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { pathOf } from '../support/clients/signer.ts';

/**
 * Clients that send the end of a body only when the rights they had are taken from them: a grant, a policy, an access key. Rights to change
 * settings and to delete count at the commit; rights to write data when the request comes. docs/security.md
 */

const service = serviceUnderTest();

// In the cloud, an access key is cached for two seconds.
let source: string;
/** Bob's project, as ACLs name it. */
let other: string;
beforeAll(async () => {
  const bucket = await service.lastingBucket();
  source = pathOf(bucket, 'source');
  const headers = { 'x-amz-acl': 'public-read' };
  await done(service, service.alice, { method: 'PUT', path: source, headers, body: 'of the source' });
  other = textOf((await done(service, service.bob, { path: '/' })).text, 'ID')!;
});

type Loss = 'an Allow of the policy' | 'a grant of the ACL' | 'a Deny of the policy';

const setPolicy = (bucket: string, policy: string): Promise<RawResponse> =>
  done(service, service.alice, { method: 'PUT', path: pathOf(bucket), query: 'policy', body: policy });

/** Returns a policy that does not cover the operations of this test. */
const harmless = (bucket: string): string => policyOf(bucket, 'Allow', 's3:GetBucketLocation');

async function setAcls(bucket: string, headers: Record<string, string>): Promise<void> {
  await done(service, service.alice, { method: 'PUT', path: pathOf(bucket), query: 'acl', headers });
  const object = { method: 'PUT', path: pathOf(bucket, key), query: 'acl', headers };
  const { status } = await service.send(object);
  expect([200, 404]).toContain(status);
}

/** How alice gives the right, and takes it away. */
const losses: Readonly<
  Record<
    Loss,
    {
      readonly give: (bucket: string) => Promise<unknown>;
      readonly take: (bucket: string, change: Change) => Promise<unknown>;
    }
  >
> = {
  'an Allow of the policy': {
    give: (bucket) => setPolicy(bucket, policyOf(bucket, 'Allow', 's3:*', { AWS: other })),
    take: (bucket) => setPolicy(bucket, harmless(bucket)),
  },
  'a grant of the ACL': {
    give: (bucket) => setAcls(bucket, { 'x-amz-grant-full-control': `id="${other}"` }),
    take: (bucket) => setAcls(bucket, { 'x-amz-acl': 'private' }),
  },
  // Which binds alice herself.
  'a Deny of the policy': {
    give: (bucket) => setPolicy(bucket, harmless(bucket)),
    take: (bucket, { action }) => setPolicy(bucket, policyOf(bucket, 'Deny', `s3:${action!}`)),
  },
};

const lossesOf = ({ grants = [], action }: Change): readonly Loss[] => [
  ...(grants.includes('policy') ? (['an Allow of the policy'] as const) : []),
  ...(grants.includes('acl') ? (['a grant of the ACL'] as const) : []),
  ...(action === undefined ? [] : (['a Deny of the policy'] as const)),
];

const cases = (kind: Change['kind']): readonly (readonly [string, Loss, Change])[] =>
  changes
    .filter((change) => change.kind === kind)
    .flatMap((change) => lossesOf(change).map((loss) => [change.name, loss, change] as const));

function expectDenied(response: RawResponse, { operation }: Change): void {
  if (operation !== 'DeleteObjects') return expectError(response, 403, 'AccessDenied');
  expect(response.status, response.text).toBe(200);
  expect(textsOf(response.text, 'Code')).toEqual(['AccessDenied']);
}

/** Holds a request that is allowed when it begins, and whose permission is then revoked. */
async function heldWithout(
  change: Change,
  loss: Loss,
): Promise<{ readonly bucket: string; readonly held: HeldRequest }> {
  const { alice, bob } = service;
  const bucket = await service.bucket();
  const { give, take } = losses[loss];
  const caller = loss === 'a Deny of the policy' ? alice : bob;
  const scene: Scene = { service, bucket, owner: alice, caller, source };
  await give(bucket);
  const ids = (await change.prepare?.(scene)) ?? {};
  // The prepared resources may need a grant of their own, or may have replaced the granted ones.
  await give(bucket);
  const held = await HeldRequest.begin(service, change.request(scene, ids), { key: caller, ...change.holding });
  await take(bucket, change);
  return { bucket, held };
}

describe('a request to change settings, or to delete, whose right is taken away', () => {
  it.each(cases('settings'))('%s changes nothing without %s', async (_, loss, change) => {
    const { bucket, held } = await heldWithout(change, loss);
    try {
      const before = await stateOf(service, bucket, service.alice);
      expectDenied(await held.finish(), change);
      expect(await stateOf(service, bucket, service.alice)).toEqual(before);
    } finally {
      await service.send({ method: 'DELETE', path: pathOf(bucket), query: 'policy' });
    }
  });
});

describe('a request to write data', () => {
  it.each(cases('data'))('%s is done if it was authorised before the loss of %s', async (_, loss, change) => {
    const { bucket, held } = await heldWithout(change, loss);
    try {
      const before = await stateOf(service, bucket, service.alice);
      const answer = await held.finish();
      const after = await stateOf(service, bucket, service.alice);
      // There a request may be authorised when all of it has come.
      if (isCloud && answer.status === 403) {
        expectError(answer, 403, 'AccessDenied');
        expect(after).toEqual(before);
        return;
      }
      expect(answer.status, answer.text).toBeLessThan(300);
      // Parts are not shown.
      if (!change.operation.startsWith('UploadPart')) expect(after).not.toEqual(before);
    } finally {
      await service.send({ method: 'DELETE', path: pathOf(bucket), query: 'policy' });
    }
  });

  it.each(['CopyObject', 'UploadPartCopy'])('%s does not copy another object than it was to', async (name) => {
    const { alice, bob } = service;
    const change = changes.find((one) => one.name === name)!;
    const [from, bucket] = [await service.bucket(), await service.bucket()];
    await setAcls(bucket, { 'x-amz-acl': 'public-read-write' });
    const secret = pathOf(from, 'source');
    const headers = { 'x-amz-acl': 'public-read' };
    const content = 'for everybody';
    await done(service, alice, { method: 'PUT', path: secret, headers, body: content });
    const scene = { service, bucket, owner: alice, caller: bob, source: secret };
    const ids = (await change.prepare?.(scene)) ?? {};
    const held = await HeldRequest.begin(service, change.request(scene, ids), { key: bob });
    await done(service, alice, { method: 'PUT', path: secret, body: 'for nobody' });
    const before = await stateOf(service, bucket, alice);
    const answer = await held.finish();
    // Requests that already read the replaced bytes can still do so.
    if (answer.status === 200) expect([name, textOf(answer.text, 'ETag')]).toEqual(['UploadPartCopy', md5Tag(content)]);
    else expectError(answer, 403, 'AccessDenied');
    expect(await stateOf(service, bucket, alice)).toEqual(before);
  });
});

/** One of each family. */
const some = [
  'PutBucketAcl',
  'DeleteBucketPolicy',
  'PutBucketVersioning',
  'PutBucketMonitoring',
  'PutAlarm',
  'DeleteBucket',
  'PutObjectAcl',
  'PutObjectTagging',
  'DeleteObject',
  'DeleteObject of a version',
  'DeleteObjects',
  'RenameObject',
  'AbortMultipartUpload',
  'CreatePublicLink',
  'DeletePublicLink',
] as const;

describe.runIf(isAdministered)('a request whose access key', () => {
  it.each([
    ['is removed', 'InvalidAccessKeyId', (made: MadeKey) => ['key', 'remove', made.accessKeyId]],
    ['is suspended with its user', 'UserSuspended', (made: MadeKey) => ['user', 'suspend', made.user]],
  ] as const)(
    '%s changes no settings, deletes nothing, and makes no bucket; what it uploads is kept',
    async (_, code, command) => {
      const project = `project@${code.toLowerCase()}`;
      const made = await makeKey(service.place, project.replace('@', ':leaver@'));
      const colleague = project.replace('@', ':colleague@');
      await administer(service.place, 'user', 'create', colleague);
      const owner = await administer<MadeKey>(service.place, 'key', 'create', colleague);

      const held: { readonly change: Change; readonly bucket: string; readonly request: HeldRequest }[] = [];
      for (const name of some) {
        const change = changes.find((one) => one.name === name)!;
        const bucket = bucketName();
        await done(service, owner, { method: 'PUT', path: pathOf(bucket) });
        const scene = { service, bucket, owner, caller: made, source };
        const ids = (await change.prepare?.(scene)) ?? {};
        const holding = { key: made, ...change.holding };
        held.push({ change, bucket, request: await HeldRequest.begin(service, change.request(scene, ids), holding) });
      }
      const upload = { method: 'PUT', path: pathOf(held[0]!.bucket, 'data'), body: 'content' };
      const uploaded = await HeldRequest.begin(service, upload, { key: made });
      const name = bucketName();
      const creation = { method: 'PUT', path: pathOf(name), body: '<CreateBucketConfiguration/>' };
      const created = await HeldRequest.begin(service, creation, { key: made });

      await administer(service.place, ...command(made));
      // On one machine it counts at once.
      if (isCloud) await new Promise((resolve) => setTimeout(resolve, 2500));

      // Data, which was authorised before wherever it is streamed.
      expect((await uploaded.finish()).status).toBe(200);
      await done(service, owner, { method: 'DELETE', path: upload.path });
      for (const { change, bucket, request } of held) {
        const before = await stateOf(service, bucket, owner);
        const answer = await request.finish();
        expect([change.name, ...textsOf(answer.text, 'Code')], answer.text).toEqual([change.name, code]);
        expect(await stateOf(service, bucket, owner)).toEqual(before);
        await service.send({ method: 'DELETE', path: pathOf(bucket, key) }, { key: owner });
        await service.send({ method: 'DELETE', path: pathOf(bucket) }, { key: owner });
      }
      expectError(await created.finish(), 403, code);
      expectError(await service.send({ path: pathOf(name) }, { key: owner }), 404, 'NoSuchBucket');
    },
  );
});
