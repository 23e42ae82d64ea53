import { describe, expect, it } from 'vitest';
import { heldBy } from '../../../../shared/storage/quotas/held.ts';
import { deleteMarker, markerBytes } from '../../../../shared/storage/version-changes/new-version.ts';
import { linkKey } from '../../../../shared/storage/table/keys/link-keys.ts';
import { partition } from '../../../../shared/storage/table/keys/keys.ts';
import { stateKey } from '../../../../shared/storage/table/keys/upload-keys.ts';

const bucketId = '0bucket';
const ofKey = { pk: partition.currentVersions(bucketId), sk: 'key' };
const current = { i: 'i'.repeat(32), r: 'r', o: 'project' };

describe('what an item adds to the counters of its bucket', () => {
  it('are, of a key, its versions by their size, and its delete markers besides', () => {
    const marker = deleteMarker('key');
    expect([marker.size, marker.held]).toEqual([0, markerBytes('key')]);
    const item = { ...current, m: 1, hb: 131, n: 4, nm: 2, nb: 50, nh: 262 };
    expect(heldBy(ofKey, item)).toEqual({ bucketId, objects: 2, bytesOfVersions: 50, bytesBesides: 393 });
    const object = { ...current, s: 7, n: 1, nm: 1, nh: 131 };
    expect(heldBy(ofKey, object)).toEqual({ bucketId, objects: 1, bytesOfVersions: 7, bytesBesides: 131 });
  });

  it('are nothing, of delete markers, uploads and links of version 0.2, which counted none', () => {
    const none = { bucketId, objects: 0, bytesOfVersions: 0, bytesBesides: 0 };
    expect(heldBy(ofKey, { ...current, m: 1, n: 1, nm: 1 })).toEqual(none);
    expect(heldBy(stateKey('id'), { state: 'open', bucketId })).toEqual(none);
    expect(heldBy(linkKey.listed({ bucketId, key: 'key', id: 'id', hash: 'hash', expires: 1 }), { bucketId })).toEqual(
      none,
    );
  });
});
