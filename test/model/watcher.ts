import * as keyParts from '../../shared/storage/table/keys/key-parts.ts';
import { currentVersionKey } from '../../shared/storage/version-changes/version-chain.ts';
import {
  decodeCurrentVersion,
  decodeVersion,
  type CurrentVersion,
  type Version,
} from '../../shared/storage/versions/versions.ts';
import { encodeContent } from '../../shared/storage/versions/stored-values.ts';
import type { Attributes, Change, ItemKey } from '../../shared/ports/key-value-table.ts';
import { canonical } from './fingerprint.ts';
import type { MemoryBlobs } from './memory-blobs.ts';
import type { ModelTable } from './model-table.ts';

/** The immutable attributes of a version. */
interface Lasting {
  readonly label: string;
  readonly bucketId: string;
  readonly key: string;
  readonly content: string | undefined;
  /** Content, size and MD5. */
  readonly fixed: string;
  /** The number of the write that created it. */
  readonly since: number;
  gone: boolean;
}

/** Checks after every write what the repositories guarantee of every state of the table, since a crash can make any state the last one. */
export class Watcher {
  readonly versions: Map<string, Lasting>;
  readonly #table: ModelTable;
  readonly #blobs: MemoryBlobs;
  #writes: number;
  wrong: string | undefined;

  constructor(table: ModelTable, blobs: MemoryBlobs, from?: Watcher) {
    this.#table = table;
    this.#blobs = blobs;
    this.versions = new Map([...(from?.versions ?? [])].map(([instance, version]) => [instance, { ...version }]));
    this.#writes = from === undefined ? 0 : from.#writes;
  }

  /** Returns the writer of a version. */
  labelOf(instance: string): string {
    return this.versions.get(instance)?.label ?? '?';
  }

  /** Returns the version of a key that this actor wrote, if it exists yet. */
  instanceOf(bucketId: string, key: string, label: string): string | undefined {
    for (const [instance, version] of this.versions) {
      if (version.label === label && version.key === key && version.bucketId === bucketId) return instance;
    }
    return undefined;
  }

  /** Returns the content that an actor put under a key. */
  contentOf(key: string, label: string): string | undefined {
    return [...this.versions.values()].find((version) => version.label === label && version.key === key)?.content;
  }

  /** Checks a write that was just applied. */
  look(changes: readonly Change[], by: string, before: (key: ItemKey) => Attributes | undefined): void {
    this.#writes += 1;
    const touched = new Map<string, { bucketId: string; key: string }>();
    for (const { key } of changes) {
      const object = keyParts.version(key);
      if (object) touched.set(`${object.bucketId}/${object.key}`, object);
    }
    for (const { bucketId, key } of touched.values()) {
      this.#lookAtKey(bucketId, key, by);
      this.#lookAtCurrentVersion(bucketId, key, changes, before);
    }
    for (const change of changes) {
      if (/^content\/.* refs$/.test(`${change.key.pk} ${change.key.sk}`) && 'put' in change) {
        const images = changes.map(({ key }) => (keyParts.version(key) ? before(key) : undefined));
        const former = images.filter((image) => image !== undefined);
        this.#lookAtReferences(change.key.pk.slice('content/'.length), change.put, before(change.key), former);
      }
    }
  }

  /** Called before a blob is removed. */
  release(ref: string): void {
    const affected = this.living().find(({ blobs }) => blobs.includes(ref));
    if (affected) this.#complain(`I7: the bytes of ${affected.label} at ${affected.key} are removed while it lives`);
  }

  /** Returns every existing version, with the blobs of its content. */
  living(): readonly { label: string; key: string; version: Version; blobs: readonly string[] }[] {
    return [...this.#table.items()].flatMap(({ key, attributes }) => {
      const object = keyParts.version(key);
      if (!object) return [];
      const version = versionOf(attributes);
      return [{ label: this.labelOf(version.instance), key: object.key, version, blobs: this.#blobsOf(version) }];
    });
  }

  /** Returns the description of a version with missing bytes, if there is one. */
  without(): string | undefined {
    const lost = this.living().find(({ blobs }) => blobs.some((blob) => !this.#blobs.kept.has(blob)));
    return lost && `data loss: the version of ${lost.label} at ${lost.key} has no bytes`;
  }

  /** Returns the versions of a key, newest first. */
  chainOf(bucketId: string, key: string): readonly Version[] {
    const currentVersion = this.#table.truth(currentVersionKey(bucketId, key));
    const older = [...(this.#table.partitions.get(`old/${bucketId}/${key}`)?.values() ?? [])].map(versionOf);
    older.sort((a, b) => (a.instance < b.instance ? 1 : -1));
    return currentVersion ? [currentVersionOf(currentVersion), ...older] : older;
  }

  #blobsOf({ content }: Version): readonly string[] {
    if (content === undefined) return [];
    if (content.kind === 'blob') return [content.ref];
    const items = this.#table.partitions.get(`content/m${content.id}`);
    const slices = [...(items ?? [])].filter(([sk]) => sk.startsWith('s/'));
    const directory = items?.get('-');
    if (directory === undefined || slices.length === 0) return [`manifest ${content.id}`];
    return slices.flatMap(([, slice]) => slice['b'] as readonly string[]).filter((blob) => blob !== '');
  }

  /** Checks I1, I2, I3 and I5. */
  #lookAtKey(bucketId: string, key: string, by: string): void {
    const currentVersion = this.#table.truth(currentVersionKey(bucketId, key));
    const chain = this.chainOf(bucketId, key);
    const older = currentVersion ? chain.slice(1) : chain;
    if (!currentVersion && older.length > 0)
      return this.#complain(`I1: ${key} has noncurrent versions without a current one`);
    if (currentVersion) this.#lookAtChain(key, currentVersionOf(currentVersion), older);
    for (const version of chain) this.#lookAtVersion(bucketId, key, version, by);
    const present = new Set(chain.map(({ instance }) => instance));
    for (const [instance, lasting] of this.versions) {
      if (lasting.key === key && lasting.bucketId === bucketId && !present.has(instance)) lasting.gone = true;
    }
  }

  #lookAtChain(key: string, currentVersion: CurrentVersion, older: readonly Version[]): void {
    if (currentVersion.olderCount !== older.length) {
      this.#complain(
        `I2: the current version of ${key} counts ${currentVersion.olderCount} older versions of ${older.length}`,
      );
    }
    const bytes = older.reduce((sum, { size }) => sum + size, 0);
    if (currentVersion.olderBytes !== bytes)
      this.#complain(`I2: the current version of ${key} counts ${currentVersion.olderBytes} bytes of ${bytes}`);
    const held = older.reduce((sum, one) => sum + (one.held ?? 0), 0);
    if (currentVersion.olderHeld !== held)
      this.#complain(
        `I2: the current version of ${key} counts ${currentVersion.olderHeld} bytes of markers of ${held}`,
      );
    const markers = older.filter(({ marker }) => marker).length;
    if (currentVersion.olderMarkers !== markers)
      this.#complain(`I2: the current version of ${key} counts its markers wrong`);
    if (older.some(({ instance }) => instance >= currentVersion.instance)) {
      this.#complain(`I2: a version of ${key} is noncurrent and younger than the current one`);
    }
    let previousVersion = currentVersion.previousVersion;
    for (const version of older) {
      if (version.instance !== previousVersion) return this.#complain(`I2: the chain of ${key} is broken`);
      previousVersion = version.previousVersion;
    }
    if (previousVersion !== undefined) this.#complain(`I2: the chain of ${key} goes on behind its end`);
    const nulls = older.filter(({ named }) => !named);
    if (nulls.length + (currentVersion.named ? 0 : 1) > 1) this.#complain(`I3: ${key} has two null versions`);
    if (currentVersion.noncurrentNull !== nulls[0]?.instance)
      this.#complain(`I3: the current version of ${key} names a wrong null version`);
  }

  #lookAtVersion(bucketId: string, key: string, version: Version, by: string): void {
    const { instance, size, md5 } = version;
    const content = version.content && encodeContent(version.content);
    const fixed = canonical([content, size, md5]);
    const known = this.versions.get(instance);
    if (!known)
      this.versions.set(instance, { label: by, bucketId, key, content, fixed, since: this.#writes, gone: false });
    else if (known.gone) this.#complain(`I5: the version of ${known.label} at ${key} came back`);
    else if (known.fixed !== fixed) this.#complain(`I5: the version of ${known.label} at ${key} changed`);
  }

  /** I4: a write that adds or removes a version also writes the current version, on the condition that it is as it was read. */
  #lookAtCurrentVersion(
    bucketId: string,
    key: string,
    changes: readonly Change[],
    before: (key: ItemKey) => Attributes | undefined,
  ): void {
    const ofKey = changes.filter((change) => {
      const object = keyParts.version(change.key);
      return object?.bucketId === bucketId && object.key === key;
    });
    const currentVersion = ofKey.find((change) => keyParts.version(change.key)!.isCurrent);
    const movesOlder = ofKey.some(
      (change) => change !== currentVersion && ('delete' in change || before(change.key)?.['i'] !== change.put['i']),
    );
    if (movesOlder && !currentVersion)
      this.#complain(`I4: the noncurrent versions of ${key} changed without the current one`);
    if (currentVersion?.expect === undefined && currentVersion)
      this.#complain(`I4: the current version of ${key} was written without a condition`);
  }

  /** I6: a reference is added only while another version with this content exists, or in the commit that replaces that version. */
  #lookAtReferences(
    content: string,
    put: Attributes,
    old: Attributes | undefined,
    replaced: readonly Attributes[],
  ): void {
    const references = [...((put['holders'] as ReadonlySet<string> | undefined) ?? [])];
    const former = old?.['holders'] as ReadonlySet<string> | undefined;
    if (references.every((instance) => former?.has(instance))) return;
    const versions = [...this.living().map(({ version }) => version), ...replaced.map(versionOf)];
    const living = versions.some(
      (version) =>
        version.content !== undefined &&
        encodeContent(version.content) === content &&
        this.versions.get(version.instance)!.since < this.#writes &&
        (former === undefined || former.has(version.instance)),
    );
    if (!living) this.#complain('I6: a content without a living reference got a new one');
  }

  #complain(what: string): void {
    this.wrong ??= what;
  }
}

/** Items are immutable, so each is decoded once, however many runs it is in. */
function memoised<Decoded>(decode: (item: Attributes) => Decoded): (item: Attributes) => Decoded {
  const known = new WeakMap<Attributes, Decoded>();
  return (item) => {
    const before = known.get(item);
    if (before !== undefined) return before;
    const decoded = decode(item);
    known.set(item, decoded);
    return decoded;
  };
}

const versionOf = memoised(decodeVersion);
const currentVersionOf = memoised(decodeCurrentVersion);
