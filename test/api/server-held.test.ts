import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { administer, makeKey, type MadeKey } from '../support/storage/administration.ts';
import { isCloud } from '../support/cloud/deployed.ts';
import { bucketName } from '../support/clients/clients.ts';
import { s3Error, textOf } from '../support/clients/expect-error.ts';
import { MonitoringClient, plainAlarm } from '../support/storage/monitoring.ts';
import { put, setVersioning } from '../support/storage/objects.ts';
import { PublicLinkClient } from '../support/storage/public-links.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { eventually } from '../support/runs/eventually.ts';
import { freePort } from '../support/runs/free-port.ts';
import type { Unsigned } from '../support/clients/signer.ts';

const MiB = 1024 * 1024;
const metricsPort = await freePort();
const metrics = isCloud ? [] : ['--metrics-port', String(metricsPort), '--metrics-buckets'];
// On one machine, collecting and evaluating is left to commands; a deployment has neither command, and its function does both, again and again.
const pace = ['--monitoring-seconds', isCloud ? '1' : '86400'];
const service = serviceUnderTest({ args: [...pace, ...metrics] });

/** What `?quota` says of a bucket. */
interface Said {
  readonly versions: number;
  readonly besides: number;
  readonly counted: number;
  readonly objects: number;
  readonly isMet: string | undefined;
}

describe.runIf(isAdministered)('what a bucket holds', () => {
  const run = <Answer>(...args: string[]): Promise<Answer> => administer<Answer>(service.place, ...args);

  /** A bucket of a project of its own, `shop@<customer>`. */
  async function ownBucket(customer: string): Promise<{ bucket: string; key: MadeKey }> {
    const key = await makeKey(service.place, `shop:ci@${customer}`);
    const bucket = bucketName();
    await service.sdk(key).send(new CreateBucketCommand({ Bucket: bucket }));
    return { bucket, key };
  }

  async function said(bucket: string, key: MadeKey): Promise<Said> {
    const { text } = await service.send({ path: `/${bucket}`, query: 'quota' }, { key });
    const number = (name: string): number => Number(textOf(text, name));
    return {
      ...{ versions: number('Bytes'), besides: number('BytesBesides'), counted: number('BytesCounted') },
      ...{ objects: number('Objects'), isMet: textOf(text, 'IsMet') },
    };
  }

  it('is the same wherever it is shown, bytes of versions and bytes besides', async () => {
    const begun = Date.now();
    const { bucket: Bucket, key } = await ownBucket('held');
    const client = service.sdk(key);
    const send = (request: Unsigned): Promise<RawResponse> => service.send(request, { key });
    const links = new PublicLinkClient({ send, url: service.url, host: service.host });

    await put(client, Bucket, 'former', 'x'.repeat(100));
    for (let made = 0; made < 3; made += 1) await links.made(Bucket, 'former');
    const linked = await eventually(async () => {
      const { versions, besides } = await said(Bucket, key);
      expect([versions, besides > 3 * 400]).toEqual([100, true]);
      return besides;
    });
    const renamed = 'r'.repeat(200);
    const headers = { 'x-amz-rename-source': `/${Bucket}/former` };
    const rename = { method: 'PUT', path: `/${Bucket}/${renamed}`, query: 'renameObject', headers };
    expect((await send(rename)).status).toBe(200);
    // Each of the three items of each link has the key.
    const moved = linked + 9 * (renamed.length - 'former'.length);
    await eventually(async () => expect(await said(Bucket, key)).toMatchObject({ versions: 100, besides: moved }));

    await setVersioning(client, Bucket, 'Enabled');
    for (const body of ['x'.repeat(600), 'x'.repeat(300)]) await put(client, Bucket, 'versions', body);
    await put(client, Bucket, 'hidden', 'x'.repeat(10));
    // One of them noncurrent, and one above nothing.
    for (const Key of ['hidden', 'none']) await client.send(new DeleteObjectCommand({ Bucket, Key }));
    await put(client, Bucket, 'none', '');
    const markers = 2 * 128 + 'hidden'.length + 'none'.length;
    await eventually(async () => {
      expect(await said(Bucket, key)).toMatchObject({ versions: 1010, besides: moved + markers, objects: 5 });
    });

    const upload = { Bucket, Key: 'upload' };
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(upload));
    const opened = await eventually(async () => {
      const { besides } = await said(Bucket, key);
      expect(besides).toBeGreaterThan(moved + markers);
      return besides;
    });
    for (const [at, Body] of ['', '', Buffer.alloc(MiB)].entries()) {
      await client.send(new UploadPartCommand({ ...upload, UploadId, PartNumber: at + 1, Body }));
    }
    const besides = opened + 3 * 256 + MiB;
    const counted = 1010 + besides;
    const whole = { versions: 1010, besides, counted, objects: 5, isMet: 'false' };
    await eventually(async () => expect(await said(Bucket, key)).toEqual(whole));

    const head = await send({ method: 'HEAD', path: `/${Bucket}` });
    expect([head.header('x-rgw-bytes-used'), head.header('x-rgw-object-count')]).toEqual(['1010', '5']);
    expect(await run('bucket', 'list', 'shop@held')).toMatchObject([
      { bytes: 1010, bytesBesides: besides, objects: 5 },
    ]);
    const used = { bytesOfVersions: 1010, bytesBesides: besides, bytes: counted, objects: 5 };
    expect(await run('quota', 'show', Bucket)).toMatchObject({ used });

    const monitoring = new MonitoringClient({ send, bucket: async () => Bucket });
    await monitoring.turn(Bucket, 'Enabled');
    // The first is in alarm if it watches the versions, and the second if it watches more.
    for (const [name, Threshold] of [
      ['versions', 1009],
      ['more', 1010],
    ] as const) {
      await monitoring.put(Bucket, name, { ...plainAlarm, Metric: 'BucketSizeBytes', Threshold });
    }
    if (!isCloud) for (const work of ['collect-metrics', 'evaluate-alarms']) await run('run', work);
    const state = async (name: string): Promise<string | undefined> =>
      textOf((await monitoring.alarm(Bucket, name)).text, 'State');
    await eventually(async () => expect([await state('versions'), await state('more')]).toEqual(['ALARM', 'OK']));
    expect(await run('metrics', 'show', Bucket)).toMatchObject({ current: { value: 1010 } });
    const times = { start: new Date(begun - 600_000).toISOString(), end: new Date(Date.now() + 60_000).toISOString() };
    const asked = { metric: 'BucketSizeBytes', statistic: 'Maximum', period: '300', ...times };
    const { text } = await monitoring.metricData(Bucket, asked);
    const values = Array.from(text.matchAll(/<Value>(\d+)<\/Value>/g), ([, value]) => value);
    // The sum of two periods, if the collections lie in two.
    expect(new Set(values)).toEqual(new Set(['1010']));

    // What the MiB of the part would be billed for in a millisecond, the versions are not in many minutes.
    const { total } = await run<{ total: { byteHours: number } }>('usage', 'shop@held');
    expect(total.byteHours).toBeGreaterThan(0);
    expect(total.byteHours * 3_600_000).toBeLessThanOrEqual(1010 * (Date.now() - begun));

    if (!isCloud) {
      await eventually(async () => {
        const scraped = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
        const of = (name: string): number => Number(scraped.split(`\n${name}{bucket="${Bucket}"} `)[1]?.split('\n')[0]);
        expect(of('stillage_bucket_objects')).toBe(5);
        expect(of('stillage_bucket_stored_bytes')).toBe(1010);
        expect(of('stillage_bucket_besides_bytes')).toBe(besides);
      });
    }
  });

  it('meets a quota by the sum, and the quota says so', async () => {
    const { bucket: Bucket, key } = await ownBucket('met');
    const client = service.sdk(key);
    await put(client, Bucket, 'a', 'x'.repeat(1000));
    await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'm' }));
    const { counted } = await eventually(async () => {
      const now = await said(Bucket, key);
      expect(now.besides).toBeGreaterThan(0);
      expect(now).toMatchObject({ versions: 1000, counted: 1000 + now.besides, isMet: 'false' });
      return now;
    });
    const limit = (...options: string[]): Promise<unknown> => run('quota', 'set', Bucket, ...options);
    await limit('--bytes', String(counted + 1));
    expect(await said(Bucket, key)).toMatchObject({ isMet: 'false' });
    await put(client, Bucket, 'b', 'x');
    await eventually(async () => expect(await said(Bucket, key)).toMatchObject({ isMet: 'true' }));
    await eventually(() => expect(put(client, Bucket, 'c', 'x')).rejects.toEqual(s3Error('QuotaExceeded', 403)));
    // A deployment takes a write more before it knows that the quota is met.
    for (const Key of ['b', 'c']) await client.send(new DeleteObjectCommand({ Bucket, Key }));
    await eventually(async () => expect(await said(Bucket, key)).toMatchObject({ isMet: 'false' }));
    await limit('--bytes', 'default', '--objects', '1');
    await eventually(async () => expect(await said(Bucket, key)).toMatchObject({ isMet: 'true' }));
  });
});
