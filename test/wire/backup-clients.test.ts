import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import type { Unsigned } from '../support/clients/signer.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

/*
 * The requests about locks of backup programs, as they send them: kopia and mc by minio-go, Veeam by a client of its own. Neither is needed
 * here. Go clients write `?retention=`, with an equals sign, Content-MD5, a namespace, and times with nine digits of a second.
 */

const service = serviceUnderTest({ alone: true });
const namespace = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
const hour = 3_600_000;
const bypass = { 'x-amz-bypass-governance-retention': 'true' };

const md5 = (body: string): string => createHash('md5').update(body).digest('base64');
/** A time in so many milliseconds, to the second: `2030-01-01T00:00:00Z`. */
const second = (inMilliseconds: number): string =>
  new Date(Date.now() + inMilliseconds).toISOString().replace(/\.\d+Z$/, 'Z');
const withNanoseconds = (time: string): string => time.replace('Z', '.123456789Z');

async function send(unsigned: Unsigned, status: number): Promise<RawResponse> {
  const { body, headers } = unsigned;
  const digest = typeof body === 'string' && body !== '' ? { 'content-md5': md5(body) } : {};
  const response = await service.send({ ...unsigned, headers: { ...digest, ...headers } });
  expect(response.status, response.text).toBe(status);
  return response;
}

async function refused(unsigned: Unsigned, status: number, code: string): Promise<void> {
  expectError(await send(unsigned, status), status, code);
}

/** Makes a bucket with object lock, as `mc mb --with-lock` does. */
async function bucketWithLock(): Promise<string> {
  // What is locked in it cannot be removed, so a service of its own keeps it.
  const name = bucketName('backups');
  await send({ method: 'PUT', path: `/${name}/`, headers: { 'x-amz-bucket-object-lock-enabled': 'true' } }, 200);
  return name;
}

const retention = (mode: string, until: string): string =>
  `<Retention ${namespace}><Mode>${mode}</Mode><RetainUntilDate>${until}</RetainUntilDate></Retention>`;

describe('kopia', () => {
  it('writes locked blobs, extends them within a second, hides them, and finds the versions of a time', async () => {
    const path = `/${await bucketWithLock()}`;
    const { text } = await send({ path: `${path}/`, query: 'versioning=' }, 200);
    expect(textOf(text, 'Status')).toBe('Enabled');
    const blob = `${path}/p0123456789abcdef`;
    const until = second(24 * hour);
    const lock = { 'x-amz-object-lock-mode': 'COMPLIANCE', 'x-amz-object-lock-retain-until-date': until };
    const put = await send({ method: 'PUT', path: blob, body: 'pack', headers: lock }, 200);
    const id = put.header('x-amz-version-id')!;

    // The same second, with a fraction that the headers do not have; then a later one. No version is named.
    const extend = { method: 'PUT', path: blob, query: 'retention=' };
    await send({ ...extend, body: retention('COMPLIANCE', withNanoseconds(until)) }, 200);
    const later = second(48 * hour);
    await send({ ...extend, body: retention('COMPLIANCE', withNanoseconds(later)) }, 200);
    const shown = await send({ path: blob, query: 'retention=' }, 200);
    expect(textOf(shown.text, 'RetainUntilDate')).toBe(later);
    await refused({ ...extend, body: retention('COMPLIANCE', until) }, 403, 'AccessDenied');

    const hidden = await send({ method: 'DELETE', path: blob }, 204);
    expect(hidden.header('x-amz-delete-marker')).toBe('true');
    const versions = await send({ path: `${path}/`, query: 'prefix=p&versions=' }, 200);
    expect(versions.text).toContain(`<VersionId>${id}</VersionId>`);
    expect((await send({ path: blob, query: `versionId=${id}` }, 200)).text).toBe('pack');
    await refused({ method: 'DELETE', path: blob, query: `versionId=${id}` }, 403, 'AccessDenied');
  });
});

describe('mc', () => {
  it('shows, sets and clears the default of a bucket', async () => {
    const plain = await service.bucket();
    const configuration = { path: `/${plain}/`, query: 'object-lock=' };
    await refused(configuration, 404, 'ObjectLockConfigurationNotFoundError');
    const own = { path: `/${await bucketWithLock()}/`, query: 'object-lock=' };
    const rule = '<Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>30</Days></DefaultRetention></Rule>';
    const document = (inner: string): string =>
      `<ObjectLockConfiguration ${namespace}><ObjectLockEnabled>Enabled</ObjectLockEnabled>${inner}</ObjectLockConfiguration>`;
    expect((await send(own, 200)).text).not.toContain('<Rule>');
    await send({ method: 'PUT', ...own, body: document(rule) }, 200);
    expect((await send(own, 200)).text).toContain(rule);
    await send({ method: 'PUT', ...own, body: document('') }, 200);
    expect((await send(own, 200)).text).not.toContain('<Rule>');
  });

  it('sets, shows, clears and bypasses the retention of a version', async () => {
    const object = `/${await bucketWithLock()}/photos.tar`;
    const put = await send({ method: 'PUT', path: object, body: 'content' }, 200);
    const version = `versionId=${put.header('x-amz-version-id')!}`;
    const period = { path: object, query: `retention=&${version}` };
    // By this code it knows that there is none.
    await refused(period, 404, 'NoSuchObjectLockConfiguration');
    const until = withNanoseconds(second(30 * 24 * hour));
    await send({ method: 'PUT', ...period, body: retention('GOVERNANCE', until) }, 200);
    expect(textOf((await send(period, 200)).text, 'Mode')).toBe('GOVERNANCE');
    const nothing = { method: 'PUT', ...period, body: `<Retention ${namespace}></Retention>` };
    await refused(nothing, 403, 'AccessDenied');
    await send({ ...nothing, headers: bypass }, 200);
    await refused(period, 404, 'NoSuchObjectLockConfiguration');
    await send({ method: 'PUT', ...period, body: retention('GOVERNANCE', until) }, 200);
    const remove = { method: 'DELETE', path: object, query: version };
    await refused(remove, 403, 'AccessDenied');
    await send({ ...remove, headers: bypass }, 204);
  });

  it('sets, shows and lifts a legal hold', async () => {
    const object = `/${await bucketWithLock()}/photos.tar`;
    const put = await send({ method: 'PUT', path: object, body: 'content' }, 200);
    const version = `versionId=${put.header('x-amz-version-id')!}`;
    const hold = { path: object, query: `legal-hold=&${version}` };
    await refused(hold, 404, 'NoSuchObjectLockConfiguration');
    for (const status of ['ON', 'OFF']) {
      const body = `<LegalHold ${namespace}><Status>${status}</Status></LegalHold>`;
      await send({ method: 'PUT', ...hold, body }, 200);
      expect(textOf((await send(hold, 200)).text, 'Status')).toBe(status);
      const head = await send({ method: 'HEAD', path: object, query: version }, 200);
      expect(head.header('x-amz-object-lock-legal-hold')).toBe(status);
      const remove = { method: 'DELETE', path: object, query: version, headers: bypass };
      if (status === 'ON') await refused(remove, 403, 'AccessDenied');
      else await send(remove, 204);
    }
  });
});

describe('Veeam', () => {
  it('finds object lock without a default, locks each object, extends it, and removes by versions', async () => {
    const path = `/${await bucketWithLock()}`;
    expect(textOf((await send({ path, query: 'versioning' }, 200)).text, 'Status')).toBe('Enabled');
    const configuration = await send({ path, query: 'object-lock' }, 200);
    expect(textOf(configuration.text, 'ObjectLockEnabled')).toBe('Enabled');
    expect(configuration.text).not.toContain('<DefaultRetention>');

    const block = `${path}/Veeam/Backup/blocks/1.blk`;
    const until = second(24 * hour);
    const lock = { 'x-amz-object-lock-mode': 'COMPLIANCE', 'x-amz-object-lock-retain-until-date': until };
    const locked = await send({ method: 'PUT', path: block, body: 'block', headers: lock }, 200);
    const id = locked.header('x-amz-version-id')!;
    const head = await send({ method: 'HEAD', path: block, query: `versionId=${id}` }, 200);
    expect(head.header('x-amz-object-lock-mode')).toBe('COMPLIANCE');
    expect(Date.parse(head.header('x-amz-object-lock-retain-until-date')!)).toBe(Date.parse(until));
    const extend = { method: 'PUT', path: block, query: `retention&versionId=${id}` };
    await send({ ...extend, body: retention('COMPLIANCE', second(48 * hour)) }, 200);

    const free = await send({ method: 'PUT', path: `${path}/Veeam/Backup/free`, body: 'free' }, 200);
    const objects = [
      ['Veeam/Backup/blocks/1.blk', id],
      ['Veeam/Backup/free', free.header('x-amz-version-id')!],
    ].map(([key, version]) => `<Object><Key>${key}</Key><VersionId>${version}</VersionId></Object>`);
    const body = `<Delete ${namespace}><Quiet>false</Quiet>${objects.join('')}</Delete>`;
    const removed = await send({ method: 'POST', path, query: 'delete', body }, 200);
    const [error] = /<Error>.*<\/Error>/s.exec(removed.text) ?? [''];
    expect([textOf(error, 'Key'), textOf(error, 'Code')]).toEqual(['Veeam/Backup/blocks/1.blk', 'AccessDenied']);
    expect(removed.text).toMatch(/<Deleted>.*Veeam\/Backup\/free/s);
    expect((await send({ path: block, query: `versionId=${id}` }, 200)).text).toBe('block');
  });
});
