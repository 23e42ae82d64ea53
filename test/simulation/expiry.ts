import * as keyParts from '../../shared/storage/table/keys/key-parts.ts';
import { madeAt } from '../../shared/storage/table/keys/ids.ts';
import { itemKey } from '../../shared/storage/table/keys/keys.ts';
import { uploadKeyParts } from '../../shared/storage/table/keys/upload-keys.ts';
import { visibilityLag } from '../../shared/lifecycle/next-due.ts';
import { day } from '../../shared/ports/durations.ts';
import type { Attributes, Change, ItemKey } from '../../shared/ports/key-value-table.ts';
import { attempt, insist, runClients, type Scenario, type Stage } from './scenario.ts';
import type { Writer } from './table-state.ts';
import { tenants } from './tenants.ts';

const bucket = 'expiring';
const path = `/${bucket}`;
const rules = `<LifecycleConfiguration>
  <Rule><ID>a</ID><Status>Enabled</Status><Filter><Prefix>tmp/</Prefix></Filter><Expiration><Days>1</Days></Expiration></Rule>
  <Rule><ID>b</ID><Status>Enabled</Status><Filter/><NoncurrentVersionExpiration><NoncurrentDays>2</NoncurrentDays></NoncurrentVersionExpiration></Rule>
  <Rule><ID>c</ID><Status>Enabled</Status><Filter/><AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>
</LifecycleConfiguration>`;
const enabled = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
/** The largest difference between clocks, in milliseconds. */
const skew = 1000;

/** A versioned bucket with lifecycle rules. Days pass; the rules must remove exactly the versions that are due. */
export class Expiry implements Scenario {
  readonly #stage: Stage;
  #bucketId = '';

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async prepare(): Promise<void> {
    const { owner } = tenants;
    const put = { method: 'PUT', path };
    await insist(this.#stage, owner, 'CreateBucket', put);
    await insist(this.#stage, owner, 'PutBucketVersioning', { ...put, query: 'versioning', body: enabled });
    await insist(this.#stage, owner, 'PutBucketLifecycle', { ...put, query: 'lifecycle', body: rules });
    this.#bucketId = this.#stage.stores.table.item(itemKey.bucket(bucket))!['id'] as string;
  }

  async run(isOver: () => boolean): Promise<void> {
    const { random } = this.#stage.stores.world.scheduler;
    const client = async (): Promise<void> => {
      const key = `${path}/${random.oneOf(['tmp/a', 'tmp/b', 'tmp/c', 'keep/a', 'keep/b'])}`;
      const kind = random.weighted({ PutObject: 6, DeleteObject: 2, CreateMultipartUpload: 1, RenameObject: 1 });
      const unsigned = {
        PutObject: { method: 'PUT', path: key, body: key },
        DeleteObject: { method: 'DELETE', path: key },
        CreateMultipartUpload: { method: 'POST', path: key, query: 'uploads' },
        RenameObject: {
          method: 'PUT',
          path: `${path}/tmp/d`,
          query: 'renameObject',
          headers: { 'x-amz-rename-source': key },
        },
      }[kind];
      await attempt(this.#stage, tenants.owner, kind, unsigned);
    };
    await runClients(this.#stage, isOver, [client, client]);
  }

  /** Checks that an undisturbed pass has left nothing that was due, except changes that it may not have seen yet. */
  async check(): Promise<void> {
    await this.#stage.deployment.tidy();
    const left = this.#stage.stores.table
      .items(['head/', 'old/', 'upload/'])
      .find((item) => this.#isLeftover(item.key, item.attributes));
    if (left) throw new Error(`${left.key.pk} ${left.key.sk} was due long ago`);
  }

  observe = (changes: readonly Change[], by: Writer, before: (key: ItemKey) => Attributes | undefined): void => {
    if (this.#bucketId === '' || by.request !== undefined) return;
    const kept = new Set(changes.map((change) => ('put' in change ? change.put['i'] : undefined)));
    for (const change of changes) {
      const was = before(change.key);
      const present = 'put' in change ? change.put : undefined;
      if (was === undefined) continue;
      const uploaded = uploadKeyParts.upload(change.key) !== undefined && was['bucketId'] === this.#bucketId;
      if (uploaded && was['state'] === 'open' && present?.['state'] === 'aborted') {
        this.#mustBeDue('the upload', change.key, was['initiated'] as number, 1);
      }
      const place = keyParts.version(change.key);
      if (place?.bucketId !== this.#bucketId) continue;
      const isGone = !kept.has(was['i']);
      const isCovered = place.isCurrent && was['m'] === undefined && present?.['m'] === 1;
      const written = lastModifiedOf(was);
      if (isCovered || (isGone && place.isCurrent)) {
        if (!place.key.startsWith('tmp/'))
          throw new Error(`no rule concerns ${place.key}, which by ${by.process} expires`);
        this.#mustBeDue('the object', change.key, written, 1);
      } else if (isGone) {
        this.#mustBeDue('the noncurrent version', change.key, (was['t'] as number | undefined) ?? written, 2);
      }
    }
  };

  /** @throws Error unless something that began at a moment is so many days old */
  #mustBeDue(what: string, { pk, sk }: ItemKey, began: number, days: number): void {
    const { now } = this.#stage.stores.world.scheduler;
    const due = dueAt(began, days);
    if (now + skew < due) {
      throw new Error(`${what} ${pk} ${sk} of ${iso(began)} was removed at ${iso(now)}, before ${iso(due)}`);
    }
  }

  #isLeftover(key: ItemKey, item: Attributes): boolean {
    const isDue = (began: unknown, days: number): boolean =>
      typeof began === 'number' && dueAt(began, days) + visibilityLag < this.#stage.stores.world.scheduler.now;
    const place = keyParts.version(key);
    if (place?.bucketId === this.#bucketId) {
      if (!place.isCurrent) return isDue(item['t'], 2);
      return place.key.startsWith('tmp/') && item['m'] === undefined && isDue(lastModifiedOf(item), 1);
    }
    return item['bucketId'] === this.#bucketId && item['state'] === 'open' && isDue(item['initiated'], 1);
  }
}

/** Returns when something is so many days old, as S3 counts them. */
function dueAt(began: number, days: number): number {
  return Math.ceil((began + days * day) / day) * day;
}

function lastModifiedOf(version: Attributes): number {
  return (version['w'] as number | undefined) ?? madeAt(version['i'] as string);
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
