import { beforeEach, describe, expect, it } from 'vitest';
import { ByteRate } from '../../../../../local/server/moving/byte-rate.ts';
import { copyBucket } from '../../../../../local/server/moving/copy-bucket.ts';
import { Ledger } from '../../../../../local/server/moving/ledger.ts';
import { localEndpoint } from '../../../../../local/server/moving/local-endpoint.ts';
import { S3Destination } from '../../../../../local/server/moving/s3-destination.ts';
import { copySettings, ignoresAcls, settingOf } from '../../../../../local/server/moving/settings.ts';
import { sourceKeys, wholeOf } from '../../../../../local/server/moving/source-listing.ts';
import { escapeXml } from '../../../../../shared/documents/text.ts';
import { compareUtf8 } from '../../../../../shared/ports/utf8-order.ts';
import { CryptoRandomness } from '../../../../../shared/adapters/system/crypto-randomness.ts';
import type { S3Endpoint, S3Request } from '../../../../../shared/ports/s3-endpoint.ts';
import { person, PipelineInProcess } from '../../../../support/storage/pipeline-in-process.ts';

const owner = person('owner');

let endpoint: S3Endpoint;
beforeEach(async () => {
  endpoint = localEndpoint(new PipelineInProcess([owner]).services, owner.project, new CryptoRandomness());
  for (const bucket of ['origin', 'copies']) await endpoint.send({ method: 'PUT', bucket });
  await set('versioning', '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>');
});

const set = (name: string, text: string): Promise<unknown> =>
  endpoint.send({ method: 'PUT', bucket: 'origin', query: { [name]: '' }, body: Buffer.from(text) });

const clock = { now: Date.now, sleep: async (): Promise<void> => undefined };

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** Settings that Ceph RGW 16.2 does not know. */
const unknown = ['ownershipControls', 'encryption'];

/** Answers as Ceph RGW 16.2 does, where that is not what S3 answers. */
function asCeph(real: S3Endpoint): S3Endpoint {
  const answer = async (request: S3Request, rewritten: (text: string) => string): ReturnType<S3Endpoint['send']> => {
    const { fields, bytes } = await real.send(request);
    const text = rewritten((await wholeOf(bytes, 2 ** 20)).toString());
    return {
      fields,
      bytes: (async function* () {
        yield Buffer.from(text);
      })(),
    };
  };
  return {
    name: 'ceph',
    buckets: () => real.buckets(),
    send: async (request) => {
      const { query = {} } = request;
      if ('versions' in query) {
        return answer({ ...request, query: { ...query, 'max-keys': '3' } }, (text) =>
          text.replace(
            /<NextKeyMarker>(.*)<\/NextKeyMarker>/,
            (_, key: string) =>
              `<NextKeyMarker>${escapeXml(decodeURIComponent(key.replaceAll('+', ' ')))}</NextKeyMarker>`,
          ),
        );
      }
      // It takes a setting that it does not know for a listing, or for the creation of a bucket that is there.
      const isUnknown = unknown.some((name) => name in query);
      if (isUnknown && request.method === 'PUT') return { fields: {}, bytes: nothing() };
      if (isUnknown) return answer({ ...request, query: {} }, (text) => text);
      if ('publicAccessBlock' in query) {
        return answer(request, (text) =>
          text
            .replaceAll('PublicAccessBlockConfiguration', 'BlockPublicAccessBlockConfiguration')
            .replace(/ xmlns="[^"]*"/, ''),
        );
      }
      if ('lifecycle' in query) {
        return answer(request, (text) =>
          text
            .replace('<And><Prefix>t/</Prefix>', '<Prefix>t/</Prefix><And>')
            .replaceAll('.000Z', 'Z')
            .replaceAll('<Prefix/>', '<Prefix></Prefix>'),
        );
      }
      return real.send(request);
    },
  };
}

describe('Ceph as a source', () => {
  it('lists all keys, although it does not encode the one that ends a page', async () => {
    const keys = ['%', '%zz', 'a%2541', 'a%41', 'a+b', 'aA', 'c d', 'm%41+ ü&<1', 'm%41+ ü&<2', 'é'];
    for (const key of keys) {
      for (const text of ['1', '2']) {
        await endpoint.send({ method: 'PUT', bucket: 'origin', key, body: Buffer.from(text) });
      }
    }
    for (const source of [asCeph(endpoint), endpoint]) {
      const listed: (readonly [string, number])[] = [];
      const of = { endpoint: source, bucket: 'origin', prefix: '', isVersioned: true };
      for await (const { key, versions } of sourceKeys(of)) listed.push([key, versions.length]);
      expect(listed).toEqual(keys.toSorted(compareUtf8).map((key) => [key, 2]));
    }
  });

  it('has its settings copied, and those are then the same', async () => {
    await endpoint.send({ method: 'PUT', bucket: 'origin', key: 'BucketOwnerEnforced', body: Buffer.from('x') });
    const block = ['BlockPublicAcls', 'IgnorePublicAcls', 'BlockPublicPolicy', 'RestrictPublicBuckets']
      .map((name) => `<${name}>${name === 'RestrictPublicBuckets'}</${name}>`)
      .join('');
    await set('publicAccessBlock', `<PublicAccessBlockConfiguration>${block}</PublicAccessBlockConfiguration>`);
    const tags = ['a', 'b'].map((name) => `<Tag><Key>${name}</Key><Value>is ${name}</Value></Tag>`).join('');
    const rules = [
      '<Filter><Prefix>d/</Prefix></Filter><Expiration><Date>2031-01-01T00:00:00Z</Date></Expiration>',
      `<Filter><And><Prefix>t/</Prefix>${tags}</And></Filter><Expiration><Days>7</Days></Expiration>`,
      '<Prefix></Prefix><NoncurrentVersionExpiration><NoncurrentDays>60</NoncurrentDays></NoncurrentVersionExpiration>',
    ].map((rule, at) => `<Rule><ID>${at}</ID><Status>Enabled</Status>${rule}</Rule>`);
    await set('lifecycle', `<LifecycleConfiguration>${rules.join('')}</LifecycleConfiguration>`);

    const [from, to] = [
      { endpoint: asCeph(endpoint), bucket: 'origin' },
      { endpoint, bucket: 'copies' },
    ];
    expect(await ignoresAcls(from)).toBe(false);
    const copied = async (isTrial: boolean): Promise<Ledger> => {
      const ledger = new Ledger(
        () => undefined,
        () => undefined,
      );
      await copySettings(from, to, ledger, { isTrial, clock });
      return ledger;
    };
    expect(await copied(false)).toMatchObject({ settings: 2, examples: [] });
    for (const name of ['publicAccessBlock', 'lifecycle'] as const) {
      expect(await settingOf(to, name)).toBe(await settingOf({ endpoint, bucket: 'origin' }, name));
    }
    expect(await copied(true)).toMatchObject({ examples: [] });
  });
});

describe('Ceph as a target', () => {
  it('is told of what it accepts, and does not keep', async () => {
    const ownership = '<Rule><ObjectOwnership>BucketOwnerPreferred</ObjectOwnership></Rule>';
    await set('ownershipControls', `<OwnershipControls>${ownership}</OwnershipControls>`);
    const rule =
      '<Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule>';
    await set('encryption', `<ServerSideEncryptionConfiguration>${rule}</ServerSideEncryptionConfiguration>`);
    const ledger = new Ledger(
      () => undefined,
      () => undefined,
    );
    const from = { endpoint, bucket: 'origin' };
    const to = { endpoint: asCeph(endpoint), bucket: 'copies' };
    await copySettings(from, to, ledger, { isTrial: false, clock });
    const told = (name: string) => ({ kind: 'missing', what: `its ${name} was accepted, but is not there` });
    expect(ledger).toMatchObject({ settings: 0, examples: [told('ownershipControls'), told('encryption')] });
  });

  it('gets every version once, although it does not encode its marks', async () => {
    const keys = ['%', '%zz', 'a%2541', 'a%41', 'aA', 'c d', 'm%41+ ü&<1', 'm%41+ ü&<2', 'é'];
    for (const key of keys) {
      for (const text of ['1', '22'])
        await endpoint.send({ method: 'PUT', bucket: 'origin', key, body: Buffer.from(text) });
    }
    const body = Buffer.from('<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>');
    await endpoint.send({ method: 'PUT', bucket: 'copies', query: { versioning: '' }, body });
    const to = new S3Destination({
      source: { endpoint, bucket: 'origin' },
      target: { endpoint: asCeph(endpoint), bucket: 'copies' },
      ...{ clock, rate: new ByteRate(Infinity, clock) },
      ...{ isVersioned: true, isLocked: false, acls: true, owner: owner.project.id },
    });
    const listed = { endpoint, bucket: 'origin', prefix: '', isVersioned: true };
    for (const versions of [2 * keys.length, 0]) {
      const ledger = new Ledger(
        () => undefined,
        () => undefined,
      );
      await copyBucket({ listed, to, ledger, removes: false, isTrial: false });
      expect(ledger).toMatchObject({ versions, same: 2 * keys.length - versions, examples: [] });
    }
  });
});
