import { describe, expect, it } from 'vitest';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { put } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

/** Headers that name a source are encoded as forms are: https://github.com/aws/aws-cli/issues/614 */

const service = serviceUnderTest();

type Copy = (bucket: string, source: string) => Promise<RawResponse>;

const copies: Readonly<Record<string, Copy>> = {
  CopyObject: (bucket, source) =>
    service.send({
      ...{ method: 'PUT', path: `/${bucket}/target` },
      headers: { 'x-amz-copy-source': `${bucket}/${source}` },
    }),
  UploadPartCopy: async (bucket, source) => {
    const path = `/${bucket}/target`;
    const id = textOf((await service.send({ method: 'POST', path, query: 'uploads' })).text, 'UploadId')!;
    const headers = { 'x-amz-copy-source': `${bucket}/${source}` };
    return service.send({ method: 'PUT', path, query: `partNumber=1&uploadId=${id}`, headers });
  },
  RenameObject: (bucket, source) =>
    service.send({
      ...{ method: 'PUT', path: `/${bucket}/target`, query: 'renameObject' },
      headers: { 'x-amz-rename-source': source },
    }),
  'RenameObject with the bucket': (bucket, source) =>
    service.send({
      ...{ method: 'PUT', path: `/${bucket}/target`, query: 'renameObject' },
      headers: { 'x-amz-rename-source': `/${bucket}/${source}` },
    }),
};

describe.each(Object.entries(copies))('the source of %s', (_, copy) => {
  it.each([
    ['my+file.txt', 'my file.txt'],
    ['my%20file.txt', 'my file.txt'],
    ['my file.txt', 'my file.txt'],
    ['my%2Bfile.txt', 'my+file.txt'],
    ['a+folder/a%2Bb+c', 'a folder/a+b c'],
    ['%E6%97%A5+%2B', '日 +'],
    ['a%252Bb', 'a%2Bb'],
  ])('%s is the key %s', async (source, key) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, key, 'content');
    const answer = await copy(bucket, source);
    expect(answer.status, answer.text).toBe(200);
  });

  it('is not a plus where it has a plus', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'my+file.txt', 'content');
    expectError(await copy(bucket, 'my+file.txt'), 404, 'NoSuchKey');
  });
});
