import type { Attributes, ItemKey } from '../../ports/key-value-table.ts';
import { ItemCodec } from '../versions/attribute-codec.ts';
import { currentVersionAttributes, versionAttributes } from '../versions/version-attributes.ts';
import type { CurrentVersion } from '../versions/versions.ts';
import { numberOf } from '../table/attribute-values.ts';
import * as keyParts from '../table/keys/key-parts.ts';
import { linkKeyParts } from '../table/keys/link-keys.ts';
import { stateKey, uploadKeyParts } from '../table/keys/upload-keys.ts';
import { noCounters, type Counters } from './usage-rows.ts';

/** What an item adds to the usage of its bucket. */
export interface Held extends Counters {
  readonly bucketId: string;
}

/** Decodes only the counted attributes of a current version: decoding all of them would take most of the time of following the feed. */
const countedItem = new ItemCodec<
  Pick<CurrentVersion, 'marker' | 'size' | 'held' | 'olderCount' | 'olderMarkers' | 'olderBytes' | 'olderHeld'>
>({
  marker: versionAttributes.marker,
  size: versionAttributes.size,
  held: versionAttributes.held,
  olderCount: currentVersionAttributes.olderCount,
  olderMarkers: currentVersionAttributes.olderMarkers,
  olderBytes: currentVersionAttributes.olderBytes,
  olderHeld: currentVersionAttributes.olderHeld,
});

/**
 * Returns what an item adds to the usage of its bucket; undefined for items that are not counted. A current version
 * stands for all versions of its key. What is no object counts by the bytes of its items: delete markers, open uploads,
 * parts and public links have them as `held`, which items written by version 0.2 lack.
 */
export function heldBy(key: ItemKey, attributes: Attributes): Held | undefined {
  const version = keyParts.version(key);
  if (version !== undefined) {
    if (!version.isCurrent) return undefined;
    const { marker, size, held = 0, olderCount, olderMarkers, olderBytes, olderHeld } = countedItem.read(attributes);
    return {
      bucketId: version.bucketId,
      objects: (marker ? 0 : 1) + olderCount - olderMarkers,
      bytesOfVersions: size + olderBytes,
      bytesBesides: held + olderHeld,
    };
  }
  const bytesBesides = bytesOfOther(key, attributes);
  if (bytesBesides === undefined || typeof attributes['bucketId'] !== 'string') return undefined;
  return { ...noCounters, bucketId: attributes['bucketId'], bytesBesides };
}

/** Returns the counted bytes of an item that belongs to no version. */
function bytesOfOther(key: ItemKey, attributes: Attributes): number | undefined {
  if (uploadKeyParts.part(key) !== undefined) return numberOf(attributes['size']) + numberOf(attributes['held']);
  if (linkKeyParts.isListed(key)) return numberOf(attributes['held']);
  const upload = uploadKeyParts.upload(key);
  if (upload === undefined || key.sk !== stateKey(upload).sk) return undefined;
  return attributes['state'] === 'open' ? numberOf(attributes['held']) : 0;
}
