import { describe, expect, it } from 'vitest';
import { Admission } from '../../../../shared/protocol/bodies/capacity/admission.ts';
import { BodiesInFlight } from '../../../../shared/protocol/bodies/capacity/bodies-in-flight.ts';
import { DownloadPace } from '../../../../shared/protocol/bodies/capacity/download-pace.ts';
import { EndedBody } from '../../../../shared/protocol/bodies/ended-body.ts';

async function* chunks(fails = false): AsyncGenerator<Uint8Array> {
  yield Buffer.from('a');
  if (fails) throw new Error('broken off');
  yield Buffer.from('b');
}

/** Sends a body as the transport does, but only its first `count` chunks. */
async function read(body: AsyncIterable<Uint8Array>, count: number): Promise<void> {
  const iterator = body[Symbol.asyncIterator]();
  for (let left = count; left > 0; left -= 1) if ((await iterator.next()).done) return;
  await iterator.return?.();
}

describe('a body that tells of its end', () => {
  it.each([0, 1, 2, 3])('does so if %i of its chunks were read', async (count) => {
    let ended = 0;
    await read(new EndedBody(chunks(), () => (ended += 1)), count);
    expect(ended).toBe(1);
  });

  it('does so if it breaks off', async () => {
    let ended = 0;
    await expect(read(new EndedBody(chunks(true), () => (ended += 1)), 2)).rejects.toThrow('broken off');
    expect(ended).toBe(1);
  });
});

describe('a download in progress', () => {
  it.each([0, 1, 3])('is none any more if %i of its chunks were read', async (count) => {
    const capacity = {
      uploads: new BodiesInFlight('uploads', 1),
      documents: new BodiesInFlight('documents', 1),
      downloads: new BodiesInFlight('downloads', 1),
      listings: new BodiesInFlight('listings', 1),
      strangersListings: new BodiesInFlight('listings', 1),
      pace: new DownloadPace({ readerGrace: 1000, readerRate: 1000 }, () => 0),
    };
    const request = { isRead: true, party: () => 'project', caller: () => 'project', hasDocument: () => false };
    for (let times = 0; times < 3; times += 1) {
      const { body } = await new Admission(capacity, request).sending({ body: chunks() });
      expect(capacity.downloads.count).toBe(1);
      await read(body as AsyncIterable<Uint8Array>, count);
      expect(capacity.downloads.count).toBe(0);
    }
  });
});
