import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { textOf } from '../support/clients/expect-error.ts';
import { PooledClient, type PooledResponse } from '../support/clients/pooled-client.ts';
import { startService } from '../support/programs/server.ts';
import type { Unsigned } from '../support/clients/signer.ts';
import {
  assertSyncedBefore,
  fileOf,
  isSync,
  readTrace,
  tracedEnvironment,
  tracingTo,
  unsyncedBefore,
  whyNoTracing,
  type SyncExpectation,
  type SystemCall,
} from '../support/disks/system-calls.ts';

const maxRuns = 3;
const blobFile = /\/blobs\/[0-9a-f]{2}\/[^/]{30}$/;
const tableFile = /\/table\/data\.mdb$/;

/** A change, and the files it must have written before it was answered. */
interface Change {
  readonly name: string;
  readonly requestId: string;
  /** The request after it, whose answer shows that all followers are done. */
  readonly followedBy: string;
  readonly written: readonly RegExp[];
}

/** Makes all kinds of changes, one after the other. */
async function makeChanges(client: PooledClient): Promise<Change[]> {
  const changes: Change[] = [];
  const make = async (name: string, request: Unsigned, ...written: RegExp[]): Promise<PooledResponse> => {
    const response = await client.send(request);
    expect([200, 204]).toContain(response.status);
    // Asked for the usage, the service first follows all changes: so it writes nothing more when it is asked for another one.
    const usage = await client.send({ method: 'HEAD', path: '/bucket' });
    expect(usage.status).toBe(200);
    const [requestId, followedBy] = [response, usage].map(({ headers }) => String(headers['x-amz-request-id']));
    changes.push({ name, requestId: requestId!, followedBy: followedBy!, written });
    return response;
  };
  await make('a new bucket', { method: 'PUT', path: '/bucket' }, tableFile);
  await make('a small object', { method: 'PUT', path: '/bucket/small', body: 'small' }, tableFile);
  const large = Buffer.alloc(1_000_000, 'large ');
  await make('a large object', { method: 'PUT', path: '/bucket/large', body: large }, blobFile, tableFile);
  await make('an empty object', { method: 'PUT', path: '/bucket/empty', body: '' }, tableFile);
  await make('an overwritten object', { method: 'PUT', path: '/bucket/small', body: 'again' }, tableFile);

  const created = await make('an upload', { method: 'POST', path: '/bucket/parts', query: 'uploads' }, tableFile);
  const upload = `uploadId=${textOf(created.text, 'UploadId')}`;
  const part = { method: 'PUT', path: '/bucket/parts', query: `partNumber=1&${upload}`, body: 'part' };
  const { headers } = await make('a part', part, tableFile);
  const list = `<Part><PartNumber>1</PartNumber><ETag>${headers.etag}</ETag></Part>`;
  const body = `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`;
  await make('an object of parts', { method: 'POST', path: '/bucket/parts', query: upload, body }, tableFile);
  await make('a deletion', { method: 'DELETE', path: '/bucket/small' }, tableFile);
  return changes;
}

interface Traced {
  readonly data: string;
  readonly changes: readonly Change[];
  readonly calls: readonly SystemCall[];
}

async function traceChanges(): Promise<Traced> {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-traced-'));
  const output = join(folder, 'trace');
  const data = join(folder, 'new', 'data');
  const service = await startService({ data, env: tracedEnvironment, under: tracingTo(output) });
  const client = new PooledClient(service);
  const changes = await makeChanges(client);
  client.close();
  expect(await service.stop()).toBe(0);
  const calls = await readTrace(output);
  await rm(folder, { recursive: true });
  return { data, changes, calls };
}

/**
 * Returns the changes of a run in which no background job wrote. A job that commits to the table just as an answer is sent (the request
 * counts do, every five seconds) looks like the change itself in the system calls, so the changes are repeated. A change that is always
 * answered too early is still found: it disturbs every run.
 */
async function undisturbed(context: TestContext): Promise<Traced> {
  for (let run = 1; ; run++) {
    const traced = await traceChanges();
    const disturbed = traced.changes.filter(
      (change) => unsyncedBefore(traced.calls, expectationOf(change, traced.data)).length > 0,
    );
    if (disturbed.length === 0 || run === maxRuns) return traced;
    await context.annotate(`run ${run}: something was written as the answer to ${disturbed[0]!.name} was sent`);
  }
}

function answered(requestId: string): (call: SystemCall) => boolean {
  return ({ name, args }) =>
    /^(?:write|send)/.test(name) && /^\d+<(?:socket|TCP)/.test(args) && args.includes(requestId);
}

/** Locks hold no data, nor do the files by which readiness finds out whether a disk can be written. */
function expectationOf({ written, requestId }: Change, data: string): SyncExpectation {
  return { within: data, except: /\/(?:lock\.mdb|\.probe-[^/]*)$/, written, acknowledgement: answered(requestId) };
}

/**
 * A kill cannot show the effect of a power failure: written data survives it in the system's memory, synced or not. So the service's system
 * calls are traced instead.
 */
describe('the service, watched by strace', () => {
  it('answers a change when everything it wrote for it is on the disk', async (context) => {
    const reason = await whyNoTracing();
    if (reason !== undefined) context.skip(reason);

    const { data, changes, calls } = await undisturbed(context);
    const expectation = (change: Change): SyncExpectation => expectationOf(change, data);

    let before = 0;
    for (const change of changes) {
      const end = calls.findIndex(answered(change.requestId));
      expect(end, `the answer to ${change.name}`).toBeGreaterThan(before);
      const own = callsSince(calls, before);
      assertSyncedBefore(calls, expectation(change));
      assertSyncedBefore(own, expectation(change));

      // That the check can fail: it does as soon as any one of these is not there.
      // Before the first change the stores are opened, which needs syncs of its own.
      const syncs = before > 0 ? calls.slice(before, end).filter(isSync) : [];
      if (before > 0) expect([...new Set(syncs.map(kindOf))].sort()).toEqual(expectedSyncs(change));
      for (const kind of new Set(syncs.map(kindOf))) {
        const without = own.filter((call) => !(syncs.includes(call) && kindOf(call) === kind));
        expect(unsyncedBefore(without, expectation(change)), `${change.name}: ${kind}`).not.toEqual([]);
      }
      const unsynchronous = own.map((call) => ({ ...call, args: call.args.replace('|O_DSYNC', '') }));
      expect(unsyncedBefore(unsynchronous, expectation(change)), `${change.name}: O_DSYNC`).not.toEqual([]);
      before = calls.findIndex(answered(change.followedBy));
    }

    // The data directory itself has a name, too.
    const made = calls
      .slice(0, calls.findIndex(answered(changes[0]!.requestId)))
      .filter((call) => call.name === 'fsync');
    const parents = [dirname(data), dirname(dirname(data))];
    for (const parent of parents) expect(made.map((call) => fileOf(call)?.path)).toContain(parent);
  });
});

/** Returns the calls after an index, and those that open files for synchronous writing. */
function callsSince(calls: readonly SystemCall[], place: number): SystemCall[] {
  return calls.filter((call, index) => index > place || call.args.includes('O_DSYNC'));
}

function expectedSyncs({ written }: Change): string[] {
  if (written.includes(blobFile)) return ['blob', 'directory of blobs', 'table'];
  return ['table'];
}

function kindOf(call: SystemCall): string {
  const path = fileOf(call)?.path ?? '';
  if (tableFile.test(path)) return 'table';
  return blobFile.test(path) ? 'blob' : 'directory of blobs';
}
