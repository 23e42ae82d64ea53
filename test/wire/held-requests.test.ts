import { beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../functions/operations.ts';
import { changes, done, key, putKey, stateOf, tagging, type Change, type Scene } from '../support/storage/changes.ts';
import { isCloud } from '../support/cloud/deployed.ts';
import { expectError, textsOf } from '../support/clients/expect-error.ts';
import { HeldRequest } from '../support/clients/held-request.ts';
import { setVersioning, versionsOf } from '../support/storage/objects.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { pathOf, type Key } from '../support/clients/signer.ts';

/**
 * Clients that send the end of a body only when something has changed that their request was authorised on: the bucket, the object, or
 * that there was none. docs/security.md
 */

const service = serviceUnderTest();

let source: string;
beforeAll(async () => {
  const bucket = await service.lastingBucket();
  source = pathOf(bucket, 'source');
  const headers = { 'x-amz-acl': 'public-read' };
  await done(service, service.alice, { method: 'PUT', path: source, headers, body: 'of the source' });
});

const sceneOf = (bucket: string, owner: Key, caller = owner): Scene => ({ service, bucket, owner, caller, source });

const named = (of: readonly Change[]): (readonly [string, Change])[] => of.map((change) => [change.name, change]);

const setAcl = (bucket: string, acl: string): Promise<RawResponse> =>
  done(service, service.alice, { method: 'PUT', path: pathOf(bucket), query: 'acl', headers: { 'x-amz-acl': acl } });

/** Returns the error codes in the response, for each key or for the whole request. */
function codesOf({ text }: RawResponse): readonly string[] {
  return textsOf(text, 'Code');
}

it('every operation that changes something is held here', () => {
  const writing = [...operations.values()].filter(({ needs }) => needs.table === 'write').map(({ name }) => name);
  const held = new Set(changes.map(({ operation }) => operation));
  // It is about a bucket that is not there yet; the others are about no bucket at all, but about accounts, and webhooks of a project.
  const aboutNone = ['Iam', 'Sts', 'PutWebhook', 'DeleteWebhook', 'RotateWebhookSecret'] as const;
  for (const name of ['CreateBucket', ...aboutNone] as const) held.add(name);
  // It changes what webhooks have not taken: test/api/webhook.test.ts.
  held.add('ReplayEvents');
  expect(writing.filter((name) => !held.has(name))).toEqual([]);
});

/** Operations that require an existing object. */
const ofPresentObjects: ReadonlySet<string> = new Set([
  'PutObjectAcl',
  'PutObjectTagging',
  'PutObjectRetention',
  'PutObjectLegalHold',
  'DeleteObjectTagging',
  'RenameObject',
  'CreatePublicLink',
]);

/** Expects the answer to a request about a bucket, or an object in it, that is not there any more. */
function expectGone(response: RawResponse, { operation }: Change): void {
  if (isCloud) {
    // API Gateway forwards it when it is complete: then the bucket is the other project's. A streamed request was authorised before. A part
    // of an upload whose bucket was removed within the last second counts as an earlier one, and is removed as well.
    const answers = [['AccessDenied'], ['NoSuchBucket'], ...(operation === 'UploadPart' ? [[]] : [])];
    expect(answers, response.text).toContainEqual(codesOf(response));
    return;
  }
  if (operation === 'DeleteObjects') expect(codesOf(response), response.text).toEqual(['NoSuchBucket']);
  else expectError(response, 404, ofPresentObjects.has(operation) ? 'NoSuchKey' : 'NoSuchBucket');
}

describe('a request for a bucket whose name is another project’s by now', () => {
  /** Bob holds a request to his bucket while alice takes over its name. */
  async function takeOver(change: Change, framing = change.holding?.framing): Promise<void> {
    const { alice, bob } = service;
    const bucket = service.freeName();
    await done(service, bob, { method: 'PUT', path: pathOf(bucket) });
    const his = sceneOf(bucket, bob);
    const ids = (await change.prepare?.(his)) ?? {};
    const holding = { key: bob, ...change.holding, ...(framing && { framing }) };
    const held = await HeldRequest.begin(service, change.request(his, ids), holding);
    for (const { id } of await versionsOf(service.stranger, bucket)) {
      await done(service, bob, { method: 'DELETE', path: pathOf(bucket, key), query: `versionId=${id}` });
    }
    await done(service, bob, { method: 'DELETE', path: pathOf(bucket) });

    await done(service, alice, { method: 'PUT', path: pathOf(bucket) });
    const hers = sceneOf(bucket, alice);
    await change.prepare?.(hers);
    if (change.wantsEmpty !== true) await putKey(hers, alice);
    const before = await stateOf(service, bucket, alice);

    expectGone(await held.finish(), change);
    expect(await stateOf(service, bucket, alice)).toEqual(before);
  }

  it.each(named(changes))('%s changes nothing', async (_, change) => takeOver(change));

  const some = ['DeleteObjects', 'DeleteBucket', 'DeleteObject', 'PutObject'];
  it.each(named(changes.filter(({ name }) => some.includes(name))))(
    '%s changes nothing, sent in chunks',
    async (_, change) => takeOver(change, 'chunked'),
  );

  it('CreateBucket finds it taken', async () => {
    const { alice, bob } = service;
    const bucket = service.freeName();
    const headers = { 'x-amz-acl': 'public-read-write' };
    const request = { method: 'PUT', path: pathOf(bucket), headers, body: '<CreateBucketConfiguration/>' };
    const held = await HeldRequest.begin(service, request, { key: bob });
    await done(service, alice, { method: 'PUT', path: pathOf(bucket) });
    await putKey(sceneOf(bucket, alice), alice);
    const before = await stateOf(service, bucket, alice);
    expectError(await held.finish(), 409, 'BucketAlreadyExists');
    expect(await stateOf(service, bucket, alice)).toEqual(before);
  });
});

/** To all but the owner of an object. */
function expectDenied(response: RawResponse, { operation }: Change, by: Key | null): void {
  if (operation !== 'DeleteObjects' || by === null) return expectError(response, 403, 'AccessDenied');
  expect(response.status, response.text).toBe(200);
  expect(codesOf(response)).toEqual(['AccessDenied']);
}

/** Operations that require more than permission to write to the bucket. */
const ofOwners = changes.filter(
  ({ name, operation }) =>
    ['PutObjectAcl', 'PutObjectTagging', 'DeleteObjectTagging', 'CreatePublicLink'].includes(operation) ||
    ['DeleteObject of a version', 'DeleteObjects of a version'].includes(name),
);

describe.each([
  ['anybody', (): null => null],
  ['another project', (): Key => service.bob],
])('a request of %s, who may list the bucket, about a key that there was not', (_, by) => {
  it.each(named(ofOwners))('%s does nothing to what is there by now', async (_name, change) => {
    const { alice } = service;
    const bucket = await service.bucket();
    const scene = sceneOf(bucket, alice);
    await setAcl(bucket, 'public-read');
    const held = await HeldRequest.begin(service, change.request(scene, {}), { key: by(), ...change.holding });
    await change.prepare!(scene);
    const before = await stateOf(service, bucket, alice);
    expectDenied(await held.finish(), change, by());
    expect(await stateOf(service, bucket, alice)).toEqual(before);
  });
});

describe('a request of the owner of an object that is another’s by now', () => {
  const itsLink = changes.find(({ name }) => name === 'DeletePublicLink')!;
  it.each(named([...ofOwners, itsLink]))('%s does nothing to that', async (_, change) => {
    const { alice, bob } = service;
    const bucket = await service.bucket();
    await setAcl(bucket, 'public-read-write');
    // The object is bob's, and stays so when he may not write any more.
    const ids = await change.prepare!(sceneOf(bucket, bob));
    await setAcl(bucket, 'private');
    const held = await HeldRequest.begin(service, change.request(sceneOf(bucket, alice, bob), ids), {
      ...{ key: bob, ...change.holding },
    });
    const hers = sceneOf(bucket, alice);
    await putKey(hers, alice);
    if (change.operation === 'DeleteObjectTagging') {
      await done(service, alice, { method: 'PUT', path: pathOf(bucket, key), query: 'tagging', body: tagging });
    }
    const before = await stateOf(service, bucket, alice);
    expectDenied(await held.finish(), change, bob);
    expect(await stateOf(service, bucket, alice)).toEqual(before);
  });
});

describe('a delete marker', () => {
  const ways: readonly (readonly [
    string,
    (bucket: string, versionId: string, by: Key | null) => Promise<RawResponse>,
  ])[] = [
    [
      'DeleteObject',
      async (bucket, versionId, by) => {
        const request = { method: 'DELETE', path: pathOf(bucket, key), query: `versionId=${versionId}` };
        return by === null ? service.sendUnsigned(request) : service.send(request, { key: by });
      },
    ],
    [
      'DeleteObjects',
      async (bucket, versionId, by) => {
        const body = `<Delete><Object><Key>${key}</Key><VersionId>${versionId}</VersionId></Object></Delete>`;
        const request = { method: 'POST', path: pathOf(bucket), query: 'delete', body };
        return by === null ? service.sendUnsigned(request) : service.send(request, { key: by });
      },
    ],
  ];

  it.each(ways)(
    'is not removed by those who may list the bucket, nor by those who may write into it: %s',
    async (operation, remove) => {
      const bucket = await service.bucket();
      await setVersioning(service.client, bucket, 'Enabled');
      await putKey(sceneOf(bucket, service.alice), service.alice);
      await done(service, service.alice, { method: 'DELETE', path: pathOf(bucket, key) });
      const versions = await versionsOf(service.client, bucket);
      const marker = versions.find(({ isMarker }) => isMarker)!;
      for (const acl of ['public-read', 'public-read-write']) {
        await setAcl(bucket, acl);
        for (const by of [null, service.bob]) {
          const answer = await remove(bucket, marker.id, by);
          if (operation === 'DeleteObject' || by === null) expectError(answer, 403, 'AccessDenied');
          else expect(codesOf(answer), answer.text).toEqual(['AccessDenied']);
        }
      }
      expect(await versionsOf(service.client, bucket)).toEqual(versions);
    },
  );

  it.each(ways)('is removed by whose it is, and by the owner of the bucket: %s', async (_, remove) => {
    const { alice, bob } = service;
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    for (const by of [bob, alice]) {
      await setAcl(bucket, 'public-read-write');
      const { header } = await done(service, bob, { method: 'DELETE', path: pathOf(bucket, key) });
      await setAcl(bucket, 'private');
      const answer = await remove(bucket, header('x-amz-version-id')!, by);
      expect([answer.status < 300, codesOf(answer)], answer.text).toEqual([true, []]);
      expect(await versionsOf(service.client, bucket)).toEqual([]);
    }
  });
});
