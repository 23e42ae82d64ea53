import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accountKey, accountKeyParts } from '../../../../../shared/storage/table/keys/account-keys.ts';
import { billingKey, billingKeyParts, billingPrefix } from '../../../../../shared/storage/table/keys/billing-keys.ts';
import { sortableTime } from '../../../../../shared/storage/table/keys/ids.ts';
import * as keyParts from '../../../../../shared/storage/table/keys/key-parts.ts';
import { itemKey, partition } from '../../../../../shared/storage/table/keys/keys.ts';
import { linkKey, linkKeyParts } from '../../../../../shared/storage/table/keys/link-keys.ts';
import { monitoringKey, monitoringKeyParts } from '../../../../../shared/storage/table/keys/monitoring-keys.ts';
import {
  cutOf,
  partKey,
  stateKey,
  uploadIndexKey,
  uploadKeyParts,
} from '../../../../../shared/storage/table/keys/upload-keys.ts';
import { runs } from '../../../../support/runs/runs.ts';

/** Names chosen by users, which may contain slashes; ids do not. */
const text = fc.string({ minLength: 1, unit: 'grapheme' }).filter((one) => !one.includes('\0'));
const id = fc.stringMatching(/^[-0-9A-Z_a-z]{22}$/);
const time = fc.integer({ min: 0, max: 4_000_000_000_000 });
const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._+=-]{0,10}$/);

const holds = (property: Parameters<typeof fc.assert>[0]): void => void fc.assert(property, { numRuns: runs(100) });

describe('a key', () => {
  it('of a version is read back as bucket and key, whatever the key is', () => {
    holds(
      fc.property(id, text, id, (bucketId, key, instance) => {
        const noncurrent = keyParts.version(itemKey.noncurrentVersion(bucketId, key, instance));
        expect(noncurrent).toEqual({ bucketId, key, isCurrent: false });
        for (const pk of [partition.currentVersions(bucketId), partition.currentVersions(bucketId, 3)]) {
          expect(keyParts.version({ pk, sk: key })).toEqual({ bucketId, key, isCurrent: true });
        }
        expect(keyParts.version(stateKey(bucketId))).toBeUndefined();
      }),
    );
  });

  it('of a bucket, its documents, its project and its tombstone is read back', () => {
    holds(
      fc.property(id, name, time, (bucketId, bucket, now) => {
        expect(keyParts.bucket(itemKey.bucket(bucket))).toBe(bucket);
        const document = { bucketId, kind: 'policy', revision: 'r' };
        expect(keyParts.bucketDocument(itemKey.bucketDocument(bucketId, 'policy', 'r'))).toEqual(document);
        expect(keyParts.ofProject(itemKey.ownedBucket('p', bucket))).toEqual({ project: 'p', name: bucket });
        expect(keyParts.ofProject(itemKey.bucketCount('p'))).toEqual({ project: 'p', name: undefined });
        expect(keyParts.ofProject(itemKey.bucket(bucket))).toBeUndefined();
        expect(keyParts.tombstone(itemKey.tombstone(sortableTime(now), bucketId))).toEqual({ time: now, bucketId });
      }),
    );
  });

  it('of content, details and garbage is read back', () => {
    holds(
      fc.property(id, id, time, (content, instance, due) => {
        expect(keyParts.content(itemKey.references(`b${content}`))).toEqual({
          content: `b${content}`,
          is: 'references',
        });
        expect(keyParts.content(itemKey.manifest(content))).toEqual({ content: `m${content}`, is: 'manifest' });
        expect(keyParts.content(itemKey.manifestSlice(content, 5, 2))).toEqual({ content: `m${content}`, is: 'slice' });
        expect(keyParts.details(itemKey.details(content))).toBe(content);
        const entry = itemKey.garbage(3, sortableTime(due), `d${content}`, instance);
        expect(keyParts.garbage(entry)).toEqual({ due, thing: `d${content}`, instance });
      }),
    );
  });

  it('of an upload, its parts and its place in the list is read back', () => {
    holds(
      fc.property(id, text, id, fc.integer({ min: 1, max: 10_000 }), (upload, key, part, number) => {
        expect(uploadKeyParts.upload(stateKey(upload))).toBe(upload);
        expect(uploadKeyParts.part(stateKey(upload))).toBeUndefined();
        const partItem = partKey(upload, { number, id: part });
        expect([uploadKeyParts.upload(partItem), uploadKeyParts.part(partItem)]).toEqual([
          upload,
          { number, id: part },
        ]);
        const listed = uploadIndexKey('bucket', key, upload);
        expect([uploadKeyParts.openUpload(listed), cutOf({ key: listed })]).toEqual(['bucket', key]);
        expect(uploadKeyParts.upload(listed)).toBeUndefined();
      }),
    );
  });

  it('of accounts, links, bills and alarms is read back', () => {
    holds(
      fc.property(name, text, time, (user, keyId, moment) => {
        expect(accountKeyParts.user(accountKey.user('p', user))).toBe(user);
        expect(accountKeyParts.usersKey(accountKey.usersKey('p', user, keyId))).toBe(keyId);
        const link = { id: 'i', bucketId: 'b', key: keyId, hash: 'h', expires: moment };
        expect(linkKeyParts.due(linkKey.due(link))).toBe(moment);
        const day = '2026-11-22';
        expect(billingKeyParts.storage(billingKey.storage('p', 'b', 's', day))).toEqual({
          counter: billingPrefix.counter('b', 's'),
          day,
        });
        expect(billingKeyParts.requestsDay(billingKey.requests('p', day, 3))).toBe(day);
        expect(billingKeyParts.requestsDay(billingKey.requestsOfHour('p', Date.parse(`${day}T05:00Z`)))).toBe(day);
        const entry = `${sortableTime(moment)}5xyz`;
        expect(monitoringKeyParts.history(monitoringKey.history('b', 'a', entry))).toEqual({ entry, at: moment });
        const notification = monitoringKey.notification(sortableTime(moment), 'alarm');
        expect(monitoringKeyParts.notification(notification)).toEqual({ time: sortableTime(moment), alarmId: 'alarm' });
        const samples = monitoringKey.samples('b', { name: '1h', span: 1000 }, moment);
        expect(monitoringKeyParts.samplesBegin(samples)).toBe(moment - (moment % 1000));
      }),
    );
  });
});
