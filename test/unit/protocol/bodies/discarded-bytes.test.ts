import { expect, it } from 'vitest';
import { BlobsNotRemoved, type BlobStore } from '../../../../shared/ports/blob-store.ts';
import { PipelineInProcess, person } from '../../../support/storage/pipeline-in-process.ts';

const alice = person('alice');

/** A store that is too busy to remove anything. */
function keepingAll(blobs: BlobStore): BlobStore {
  return { ...blobs, remove: (refs) => Promise.reject(new BlobsNotRemoved(refs, 'the store is overloaded')) };
}

it('a refused upload is answered with its own error, also if its bytes cannot be removed', async () => {
  const service = new PipelineInProcess([alice], { before: keepingAll });
  await service.send({ method: 'PUT', path: '/bucket' }, alice);
  const upload = { method: 'PUT', path: '/bucket/key', body: 'bytes', headers: { 'if-none-match': '*' } };
  expect((await service.send(upload, alice)).status).toBe(200);
  expect(await service.send(upload, alice)).toMatchObject({ status: 412, code: 'PreconditionFailed' });
  expect(service.problems).toEqual([]);
});
