import { scrubDeps } from '../../functions/compose/scrub.ts';
import { decodeCurrentVersion, decodeVersion, type Version } from '../../shared/storage/versions/versions.ts';
import { scrub } from '../../shared/scrub/scrub.ts';
import { Usage } from '../../shared/storage/quotas/usage.ts';
import * as keyParts from '../../shared/storage/table/keys/key-parts.ts';
import { uploadKeyParts } from '../../shared/storage/table/keys/upload-keys.ts';
import { day, hour } from '../../shared/ports/durations.ts';
import type { Item } from '../../shared/ports/key-value-table.ts';
import type { Stage } from './scenario.ts';

/**
 * Findings of a scrub that lost answers and killed processes explain: bytes and items that nothing refers to, and the references of
 * released content, if the answer to their removal was lost.
 */
const mayBeLeft = [
  /^orphan-(?:blob|manifest|details|document|part) /,
  /^dead-holder content \S+: it has no references$/,
];

/**
 * Compares the counters of all buckets with their contents, and looks for the bytes of every version and part. To be called when nothing
 * else runs and all changes have been followed.
 * @throws Error if they differ, or bytes are missing
 */
export async function checkContents({ stores, deployment }: Stage): Promise<void> {
  const usage = new Usage(deployment.operator);
  for (const { key, attributes } of stores.table.items(['bucket/'])) {
    const bucketId = attributes['id'] as string;
    const versions = versionsOf(stores.table.items(['head/', 'old/']), bucketId);
    const truth = {
      objects: versions.filter(({ marker }) => !marker).length,
      bytes: versions.reduce((sum, { size }) => sum + size, 0),
    };
    const counted = await usage.of(bucketId);
    if (counted.objects !== truth.objects || counted.bytesOfVersions !== truth.bytes) {
      throw new Error(`the counters of ${key.pk} are ${JSON.stringify(counted)} instead of ${JSON.stringify(truth)}`);
    }
  }
  for (const ref of blobsOf(stores.table.items(['']))) {
    if (!stores.blobs.kept.has(ref)) throw new Error(`data loss: the blob ${ref} is missing`);
  }
}

/**
 * Lets enough time pass for all delayed removals, and scrubs: only data with references may remain.
 * @throws Error if data is left over, lost or inconsistent
 */
export async function checkRemains(stage: Stage): Promise<void> {
  const { stores, deployment } = stage;
  for (const wait of [2 * hour, 3 * day, 9 * day, day, 0]) {
    await stores.world.scheduler.skip(wait);
    await deployment.drain();
    await deployment.tidy();
    await deployment.drain();
  }
  await checkContents(stage);
  const found: string[] = [];
  const run = (): Promise<unknown> =>
    scrub(
      { ...scrubDeps(deployment.operator), drain: () => deployment.drain() },
      {
        ...{ repair: true, minAge: 0, content: true, filterBytes: 4096 },
        onFinding: ({ kind, where, what }) => found.push(`${kind} ${where}: ${what}`),
      },
    );
  await run();
  const wrong = found.find((finding) => !mayBeLeft.some((pattern) => pattern.test(finding)));
  if (wrong !== undefined) throw new Error(`a scrub finds ${wrong}`);
  found.length = 0;
  await run();
  if (found.length > 0) throw new Error(`a scrub finds after a repair ${found[0]}`);
  const referred = new Set(blobsOf(stores.table.items([''])));
  const left = [...stores.blobs.kept.keys()].find((ref) => !referred.has(ref));
  if (left !== undefined) throw new Error(`nothing refers to the blob ${left}, which is still there`);
}

function versionsOf(items: readonly Item[], bucketId: string): readonly Version[] {
  return items.flatMap(({ key, attributes }) => {
    const place = keyParts.version(key);
    if (place?.bucketId !== bucketId) return [];
    return [place.isCurrent ? decodeCurrentVersion(attributes) : decodeVersion(attributes)];
  });
}

/** Returns the references of all blobs that versions and parts refer to. */
function blobsOf(items: readonly Item[]): readonly string[] {
  const slices = new Map<string, string[]>();
  for (const { key, attributes } of items) {
    if (!key.pk.startsWith('content/m') || !key.sk.startsWith('s/')) continue;
    const blobs = (attributes['b'] as readonly string[]).filter((blob) => blob !== '');
    slices.set(key.pk, [...(slices.get(key.pk) ?? []), ...blobs]);
  }
  return items.flatMap(({ key, attributes }) => {
    if (uploadKeyParts.part(key)) return typeof attributes['blob'] === 'string' ? [attributes['blob']] : [];
    if (keyParts.version(key) === undefined) return [];
    const { content } = decodeVersion(attributes);
    if (content === undefined) return [];
    return content.kind === 'blob' ? [content.ref] : (slices.get(`content/m${content.id}`) ?? [`of ${content.id}`]);
  });
}
