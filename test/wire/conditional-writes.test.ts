import { describe, expect, it } from 'vitest';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { md5Tag, put, read, setVersioning, versionsOf } from '../support/storage/objects.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html and …/conditional-deletes.html */

const service = serviceUnderTest();
const tag = md5Tag('old');
const other = md5Tag('other');

/** The state of the key before the write. */
type Before = 'an object' | 'nothing' | 'a delete marker';

async function prepared(before: Before): Promise<string> {
  const bucket = await service.bucket();
  if (before === 'a delete marker') await setVersioning(service.client, bucket, 'Enabled');
  if (before !== 'nothing') await put(service.client, bucket, 'key', 'old');
  if (before === 'a delete marker') await service.send({ method: 'DELETE', path: `/${bucket}/key` });
  return bucket;
}

type Write = (bucket: string, headers: Record<string, string>) => Promise<RawResponse>;

const putObject: Write = (bucket, headers) =>
  service.send({ method: 'PUT', path: `/${bucket}/key`, headers, body: 'new' });

const complete: Write = async (bucket, headers) => {
  const path = `/${bucket}/key`;
  const created = await service.send({ method: 'POST', path, query: 'uploads' });
  const id = textOf(created.text, 'UploadId')!;
  await service.send({ method: 'PUT', path, query: `partNumber=1&uploadId=${id}`, body: 'new' });
  const part = `<Part><PartNumber>1</PartNumber><ETag>${md5Tag('new')}</ETag></Part>`;
  const body = `<CompleteMultipartUpload>${part}</CompleteMultipartUpload>`;
  return service.send({ method: 'POST', path, query: `uploadId=${id}`, headers, body });
};

const cases: [before: Before, headers: Record<string, string>, outcome: string][] = [
  ['nothing', { 'if-none-match': '*' }, 'written'],
  ['a delete marker', { 'if-none-match': '*' }, 'written'],
  ['an object', { 'if-none-match': '*' }, 'If-None-Match'],
  ['an object', { 'if-none-match': '"*"' }, 'If-None-Match'],
  ['an object', { 'if-match': tag }, 'written'],
  ['an object', { 'if-match': tag.replaceAll('"', '') }, 'written'],
  ['an object', { 'if-match': `${other}, ${tag}` }, 'written'],
  ['an object', { 'if-match': '*' }, 'written'],
  ['an object', { 'if-match': other }, 'If-Match'],
  ['nothing', { 'if-match': tag }, 'NoSuchKey'],
  ['nothing', { 'if-match': '*' }, 'NoSuchKey'],
  ['a delete marker', { 'if-match': tag }, 'NoSuchKey'],
  ['a delete marker', { 'if-match': '*' }, 'NoSuchKey'],
];

describe.each([
  ['PutObject', putObject],
  ['CompleteMultipartUpload', complete],
])('%s', (_, write) => {
  it.each(cases)('over %s with %o: %s', async (before, headers, outcome) => {
    const bucket = await prepared(before);
    const response = await write(bucket, headers);
    if (outcome === 'written') {
      expect(response.status, response.text).toBe(200);
      expect(await read(service.client, bucket, 'key')).toBe('new');
      return;
    }
    if (outcome === 'NoSuchKey') {
      expectError(response, 404, 'NoSuchKey');
    } else {
      expectError(response, 412, 'PreconditionFailed');
      expect(textOf(response.text, 'Condition')).toBe(outcome);
    }
    const { status, text } = await service.send({ path: `/${bucket}/key` });
    expect(status).toBe(before === 'an object' ? 200 : 404);
    if (before === 'an object') expect(text).toBe('old');
  });
});

describe('DeleteObject', () => {
  it.each([
    ['an object', { 'if-match': tag }, 204],
    ['an object', { 'if-match': '*' }, 204],
    ['an object', { 'if-match': other }, 412],
    ['nothing', { 'if-match': tag }, 404],
    ['nothing', { 'if-match': '*' }, 404],
    ['a delete marker', { 'if-match': tag }, 404],
    ['a delete marker', { 'x-amz-if-match-size': '3' }, 404],
    ['nothing', {}, 204],
    ['a delete marker', {}, 204],
    ['an object', { 'x-amz-if-match-size': '3' }, 204],
    ['an object', { 'x-amz-if-match-size': '4' }, 412],
    ['an object', { 'x-amz-if-match-last-modified-time': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 412],
    ['nothing', { 'x-amz-if-match-last-modified-time': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 404],
    ['an object', { 'x-amz-if-match-last-modified-time': 'no date' }, 400],
    ['an object', { 'x-amz-if-match-size': 'no size' }, 400],
  ] as const)('of %s with %o: %i', async (before, headers, status) => {
    const bucket = await prepared(before);
    const response = await service.send({ method: 'DELETE', path: `/${bucket}/key`, headers });
    expect(response.status, response.text).toBe(status);
    if (status === 404) expectError(response, 404, 'NoSuchKey');
    if (status === 412) {
      expect(textOf(response.text, 'Condition')!.toLowerCase()).toBe(Object.keys(headers)[0]);
      expect(await read(service.client, bucket, 'key')).toBe('old');
    }
  });

  it('with the time of the object, to the second, in both forms that clients send', async () => {
    for (const form of [(date: Date) => date.toUTCString(), (date: Date) => date.toISOString()]) {
      const bucket = await prepared('an object');
      const { header } = await service.send({ method: 'HEAD', path: `/${bucket}/key` });
      const headers = { 'x-amz-if-match-last-modified-time': form(new Date(header('last-modified')!)) };
      const response = await service.send({ method: 'DELETE', path: `/${bucket}/key`, headers });
      expect(response.status, response.text).toBe(204);
    }
  });

  it('of a version judges that version', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await put(service.client, bucket, 'key', 'old');
    await put(service.client, bucket, 'key', 'newer');
    const remove = (ifMatch: string) =>
      service.send({
        method: 'DELETE',
        path: `/${bucket}/key`,
        query: `versionId=${VersionId}`,
        headers: { 'if-match': ifMatch },
      });
    expect((await remove(md5Tag('newer'))).status).toBe(412);
    expect((await remove(tag)).status).toBe(204);
    expectError(await remove(tag), 404, 'NoSuchKey');
  });

  it.each(['Enabled', 'Suspended'] as const)(
    'lays no marker where there is nothing, nor on another, with versioning %s',
    async (status) => {
      const bucket = await service.bucket();
      await setVersioning(service.client, bucket, status);
      const path = `/${bucket}/key`;
      const headers = { 'if-match': '*' };
      expectError(await service.send({ method: 'DELETE', path, headers }), 404, 'NoSuchKey');
      expect(await versionsOf(service.client, bucket)).toEqual([]);
      await service.send({ method: 'DELETE', path });
      const before = await versionsOf(service.client, bucket);
      expectError(await service.send({ method: 'DELETE', path, headers }), 404, 'NoSuchKey');
      const query = `versionId=${before[0]!.id}`;
      expectError(await service.send({ method: 'DELETE', path, query, headers }), 404, 'NoSuchKey');
      const body = '<Delete><Object><Key>key</Key><ETag>*</ETag></Object></Delete>';
      const many = await service.send({ method: 'POST', path: `/${bucket}`, query: 'delete', body });
      expect(textOf(many.text, 'Code')).toBe('NoSuchKey');
      expect(await versionsOf(service.client, bucket)).toEqual(before);
    },
  );

  it('with the same ETag has one winner', async () => {
    const bucket = await prepared('an object');
    const request = { method: 'DELETE', path: `/${bucket}/key`, headers: { 'if-match': tag } };
    const answers = await Promise.all(Array.from({ length: 5 }, () => service.send(request)));
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    // A loser of the race may also be told that it conflicted.
    for (const { status } of answers) expect([204, 404, 409]).toContain(status);
  });
});
