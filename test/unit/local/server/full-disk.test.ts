import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { composeEmbeddedService, type EmbeddedService } from '../../../../local/server/embedded-service.ts';
import { freeingFirst } from '../../../../local/server/release/release-schedule.ts';
import { ephemeralStores } from '../../../../local/server/data-directory/ephemeral-stores.ts';
import { defaultOptions } from '../../../../shared/command-line/start-options.ts';
import { EphemeralBlobStore } from '../../../../shared/adapters/ephemeral/ephemeral-blob-store.ts';
import { CryptoRandomness } from '../../../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../../../shared/adapters/system/system-clock.ts';
import { Fields } from '../../../../shared/http/message.ts';
import type { BlobOwner } from '../../../../shared/ports/blob-store.ts';
import type { Sweep } from '../../../../shared/storage/removal/release.ts';
import { hour } from '../../../../shared/ports/durations.ts';
import { TableBusy } from '../../../../shared/ports/key-value-table.ts';
import { alice } from '../../../support/programs/server.ts';
import { signed, type Unsigned } from '../../../support/clients/signer.ts';
import { eventually } from '../../../support/runs/eventually.ts';

/** A disk that fails with an error until something is removed from it. */
class FullDisk extends EphemeralBlobStore {
  failure: Error | undefined;
  writable = true;

  override async write(bytes: AsyncIterable<Uint8Array>, owner: BlobOwner): Promise<{ ref: string; size: number }> {
    if (this.failure) throw this.failure;
    return super.write(bytes, owner);
  }

  override async remove(refs: readonly string[]): Promise<void> {
    await super.remove(refs);
    if (refs.length === 0) return;
    this.failure = undefined;
    this.writable = true;
  }

  override async check(): Promise<{ readonly writable: boolean }> {
    return { writable: this.writable };
  }
}

describe('freeing on a full disk', () => {
  const swept = { freed: 1, blobs: 1, bytes: 5, held: { things: 0 } } as unknown as Sweep;

  it('comes first where the feed cannot be followed, and counts', async () => {
    const done: string[] = [];
    let isFull = true;
    const drain = async (): Promise<void> => {
      done.push('drain');
      if (isFull) throw new TableBusy();
    };
    const sweep = async (): Promise<Sweep> => {
      done.push('sweep');
      isFull = false;
      return swept;
    };
    expect(await freeingFirst(drain, sweep)).toMatchObject({ freed: 2, blobs: 2, bytes: 10 });
    expect(done).toEqual(['drain', 'sweep', 'drain', 'sweep']);
    expect(await freeingFirst(drain, sweep)).toBe(swept);
  });

  it('fails where it made no room, and with every other error at once', async () => {
    const sweep = vi.fn(async () => swept);
    await expect(freeingFirst(() => Promise.reject(new TableBusy()), sweep)).rejects.toThrow(TableBusy);
    expect(sweep).toHaveBeenCalledTimes(1);
    await expect(freeingFirst(() => Promise.reject(new Error('lost')), sweep)).rejects.toThrow('lost');
    expect(sweep).toHaveBeenCalledTimes(1);
  });
});

describe('a full disk', () => {
  const disk = (): FullDisk => blobs;
  let blobs: FullDisk;
  let service: EmbeddedService;
  beforeEach(async () => {
    const randomness = new CryptoRandomness();
    blobs = new FullDisk();
    service = await composeEmbeddedService(
      {
        ...ephemeralStores(randomness),
        ...{ blobs, clock: new SystemClock(), randomness },
        telemetry: { request: () => undefined, problem: () => undefined, note: () => undefined },
      },
      { ...defaultOptions, consoleOrigin: [], key: alice, buckets: ['bucket'], limit: {}, releaseGrace: hour },
    );
    expect(await send('PUT', 'deleted')).toBe(200);
    expect(await send('DELETE', 'deleted')).toBe(204);
    await service.kept.drain();
    expect(blobs.bytes).toBe(5);
  });
  afterEach(() => service.abandon());

  async function send(method: string, key: string): Promise<number> {
    const unsigned: Unsigned = { method, path: `/bucket/${key}`, ...(method === 'PUT' && { body: 'bytes' }) };
    const { target, headers, body } = signed('stillage.test', unsigned, { key: alice });
    const { status } = await service.pipeline.handle({
      ...{ method, target, fields: new Fields(headers), secure: false, remoteAddress: '192.0.2.7' },
      body: once(Buffer.from(body ?? '')),
    });
    return status;
  }

  it('ends the grace of what was deleted: a write gets 503, and the next one finds room', async () => {
    disk().failure = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    expect(await send('PUT', 'new')).toBe(503);
    await eventually(() => expect(blobs.bytes).toBe(0));
    expect(await send('PUT', 'new')).toBe(200);
  });

  it('is looked for when the table cannot serve a request', async () => {
    disk().failure = new TableBusy();
    disk().writable = false;
    expect(await send('PUT', 'new')).toBe(503);
    await eventually(() => expect(blobs.bytes).toBe(0));
  });

  it('is not what makes a table busy, while there is room: what was deleted is kept', async () => {
    disk().failure = new TableBusy();
    expect(await send('PUT', 'new')).toBe(503);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(blobs.bytes).toBe(5);
  });
});

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
