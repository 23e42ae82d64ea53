import { fullRights } from '../../../../shared/access/identity-rights.ts';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { postObject } from '../../../../functions/object/post-object.ts';
import type { AccessKeys, User } from '../../../../shared/access/identity.ts';
import { S3Error } from '../../../../shared/errors/s3-error.ts';
import { resolveTarget } from '../../../../shared/http/address.ts';
import { Fields, type RequestMessage } from '../../../../shared/http/message.ts';
import { authenticateBody, authenticateHead } from '../../../../shared/protocol/authentication/authenticate.ts';
import type { Authenticated, SigningSettings } from '../../../../shared/protocol/authentication/authenticated.ts';
import { openForm } from '../../../../shared/protocol/bodies/form.ts';
import { defaultLimits } from '../../../../shared/protocol/limits.ts';
import { Pipeline, type PipelineDeps } from '../../../../shared/protocol/pipeline.ts';
import { formBody, formType, policyText, signedV2, signedV4, type FormField } from '../../../support/clients/form.ts';

const credentials = { accessKeyId: 'project:user@customer', secretAccessKey: 'secret' };
const user: User = {
  kind: 'user',
  id: 'user-id',
  accessKeyId: credentials.accessKeyId,
  name: 'user',
  project: { id: 'id', email: 'project@customer', displayName: 'project' },
  privileges: [],
  rights: fullRights,
};
const clock = { now: () => Date.now(), sleep: () => Promise.resolve() };
const names = { domain: 'example.test', websiteDomain: 'web.example.test' };
const signature = signedV4(credentials, [{ bucket: 'bucket' }, { key: 'k' }]);

function keys(suspended = false): AccessKeys {
  const key = { secret: credentials.secretAccessKey, user, suspended, unchanged: [] };
  return { find: (id) => Promise.resolve(id === credentials.accessKeyId ? key : undefined) };
}

/** A request with a form, and whether its body was closed. */
function request(
  fields: readonly FormField[],
  content = 'content',
): { message: RequestMessage; closed: () => boolean } {
  const bytes = formBody(fields, { fileName: 'path/f.txt', content });
  let closed = false;
  const body = (async function* () {
    try {
      for (let at = 0; at < bytes.length; at += 100) yield bytes.subarray(at, at + 100);
    } finally {
      closed = true;
    }
  })();
  const headers = new Fields([
    ['host', 'example.test'],
    ['content-type', formType],
    ['content-length', String(bytes.length)],
  ]);
  const message = { method: 'POST', target: '/bucket', fields: headers, body, secure: true, remoteAddress: '' };
  return { message, closed: () => closed };
}

async function pass(
  message: RequestMessage,
  accessKeys = keys(),
  settings: SigningSettings = {},
): Promise<Authenticated> {
  const target = resolveTarget(message.target, message.fields.get('host'), names);
  const wants = { digestBody: false, formBytes: defaultLimits.formBytes };
  const deps = { keys: accessKeys, clock, settings, limits: defaultLimits };
  return authenticateBody(await authenticateHead(message, target, false, deps), wants, deps);
}

const refused = (code: string): unknown => expect.objectContaining({ name: 'S3Error', code });

describe('authentication of a form', () => {
  it.each([
    ['form-v4', signature],
    ['form-v2', signedV2(credentials, policyText([{ bucket: 'bucket' }, { key: 'k' }]))],
    ['anonymous', []],
  ] as const)('says who sent it: %s', async (scheme, signing) => {
    const { caller, payload, form, ...rest } = await pass(request([['key', 'k'], ...signing]).message);
    expect(rest).toMatchObject({ scheme });
    expect(caller).toEqual(scheme === 'anonymous' ? { kind: 'anonymous' } : user);
    expect(form?.fields.get('key')).toBe('k');
    const chunks: Uint8Array[] = [];
    for await (const chunk of payload.bytes) chunks.push(Buffer.from(chunk));
    expect(Buffer.concat(chunks).toString()).toBe('content');
    expect(payload.digests()).toMatchObject({ size: 7, checksum: { algorithm: 'CRC64NVME' } });
  });

  it('refuses signatures of version 2 where the deployment does', async () => {
    const v2 = signedV2(credentials, policyText([{ bucket: 'bucket' }, { key: 'k' }]));
    const off = { version2: false };
    await expect(pass(request([['key', 'k'], ...v2]).message, keys(), off)).rejects.toEqual(refused('InvalidRequest'));
    await pass(request([['key', 'k'], ...signature]).message, keys(), off);
  });

  it('tells only a client that holds the secret that the key is suspended', async () => {
    await expect(pass(request([['key', 'k'], ...signature]).message, keys(true))).rejects.toEqual(
      refused('UserSuspended'),
    );
    const forged = signedV4({ ...credentials, secretAccessKey: 'guess' }, [{ bucket: 'bucket' }, { key: 'k' }]);
    await expect(pass(request([['key', 'k'], ...forged]).message, keys(true))).rejects.toEqual(
      refused('SignatureDoesNotMatch'),
    );
  });

  it('takes only the region that it was told to', async () => {
    const form = (): RequestMessage => request([['key', 'k'], ...signature]).message;
    expect((await pass(form(), keys(), { strictRegion: 'us-east-1' })).caller).toEqual(user);
    await expect(pass(form(), keys(), { strictRegion: 'eu-west-1' })).rejects.toMatchObject({
      code: 'InvalidArgument',
      details: { Region: 'eu-west-1' },
    });
  });

  it.each([
    ['its signature does not hold', [...signature.slice(0, -1), ['x-amz-signature', 'forged']]],
    ['its policy does not', [...signature, ['acl', 'private']]],
    ['a field comes twice', [...signature, ['KEY', 'k']]],
  ] as [string, FormField[]][])('lets go of the body if %s', async (_, fields) => {
    // More than arrives at once with the fields.
    const { message, closed } = request([['key', 'k'], ...fields], 'x'.repeat(10_000));
    await expect(pass(message)).rejects.toBeInstanceOf(S3Error);
    expect(closed()).toBe(true);
  });
});

describe('the pipeline, for a form', () => {
  it('lets go of the body if nobody gets to read the file', async () => {
    const { message, closed } = request([['key', 'k'], ...signature], 'x'.repeat(10_000));
    const noBucket = { loadRecent: () => Promise.reject(new S3Error('NoSuchBucket')) };
    const pipeline = new Pipeline({
      services: { clock, buckets: noBucket, settings: { limits: defaultLimits } },
      operations: new Map([['PostObject', postObject]]),
      accessKeys: keys(),
      telemetry: { request: () => undefined, problem: () => undefined },
      hostNames: names,
      signing: {},
      consoleOrigins: new Set(),
      requestId: () => 'id',
      hostId: 'host',
    } as unknown as PipelineDeps);
    expect((await pipeline.handle(message)).status).toBe(404);
    await expect.poll(closed).toBe(true);
  });
});

describe('openForm', () => {
  it('counts what `${filename}` is replaced by like all that stands beside the file', async () => {
    const fileNamed = (fileName: string, times: number): AsyncIterable<Uint8Array> => {
      const fields: FormField[] = [
        ['key', 'k'],
        ['x-amz-meta-name', '${filename}'.repeat(times)],
      ];
      return Readable.from([formBody(fields, { fileName, content: 'x' })]);
    };
    const inner = `a${' '.repeat(9000)}b`;
    await expect(openForm(formType, fileNamed(inner, 3), 20_480)).rejects.toEqual(
      refused('MaxPostPreDataLengthExceeded'),
    );
    await expect(openForm(formType, fileNamed(inner, 80), 20_480)).rejects.toEqual(
      refused('MaxPostPreDataLengthExceeded'),
    );
    const form = await openForm(formType, fileNamed(`C:\\path/${inner}`, 2), 20_480);
    expect(form.headers.get('x-amz-meta-name')).toBe(inner + inner);
    await form.close();
  });

  async function headersOf(...fields: FormField[]): Promise<Record<string, string>> {
    const { message } = request(fields);
    const form = await openForm(formType, message.body!, 20_480);
    await form.close();
    return Object.fromEntries(form.headers);
  }

  it('gives the fields that a PUT would have in its head, under the names they have there', async () => {
    const found = await headersOf(
      ['key', 'k'],
      ['acl', 'private'],
      ['Content-Type', ' text/plain\t'],
      ['X-Amz-Meta-Name', '${filename}'],
      ['x-amz-checksum-crc32', 'AAAAAA=='],
      ['tagging', '<Tagging/>'],
      ['submit', 'Upload'],
      ['host', 'example.com'],
      ['content-length', '5'],
      ['transfer-encoding', 'chunked'],
    );
    expect(found).toEqual({
      'x-amz-acl': 'private',
      'content-type': 'text/plain',
      'x-amz-meta-name': 'f.txt',
      'x-amz-checksum-crc32': 'AAAAAA==',
    });
  });

  it('gives nothing that would say of the file that it is framed', async () => {
    const found = await headersOf(
      ['key', 'k'],
      ['x-amz-content-sha256', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'],
      ['x-amz-decoded-content-length', '5'],
      ['x-amz-trailer', 'x-amz-checksum-crc32'],
      ['content-encoding', 'aws-chunked'],
    );
    expect(found).toEqual({ 'content-encoding': 'aws-chunked' });
  });
});
