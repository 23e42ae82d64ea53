import { heldBy } from '../../shared/storage/quotas/held.ts';
import { countedByQuota } from '../../shared/storage/quotas/quotas.ts';
import { asService } from '../../shared/storage/version-changes/service-authorisation.ts';
import { itemKey } from '../../shared/storage/table/keys/keys.ts';
import { uploadKeyParts } from '../../shared/storage/table/keys/upload-keys.ts';
import type { Attributes, Change, ItemKey } from '../../shared/ports/key-value-table.ts';
import { attempt, insist, runClients, type Scenario, type Stage } from './scenario.ts';
import { tenants } from './tenants.ts';

const bucket = 'small';
const path = `/${bucket}`;
/** More than the keys of the clients can hold at most is never asked for. */
const quotas = [
  { objects: 4, bytes: 5000 },
  { objects: 6, bytes: 1500 },
  { objects: 8, bytes: 3000 },
] as const;
const sizes = [0, 40, 400, 1200] as const;

/**
 * A bucket with a quota, which several clients fill and empty. On one machine it is never exceeded; in the cloud, writes are refused as
 * soon as the counters show that it is used up, and accepted once they show that it is not.
 */
export class QuotaScenario implements Scenario {
  readonly #stage: Stage;
  #bucketId = '';
  #quota: (typeof quotas)[number] = quotas[0];
  /** The partitions of completed uploads, whose parts are counted with their objects. */
  readonly #completed = new Set<string>();
  /** The usage of the bucket, including parts of open and aborted uploads. */
  readonly #held = { objects: 0, bytes: 0 };

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async prepare(): Promise<void> {
    await insist(this.#stage, tenants.owner, 'CreateBucket', { method: 'PUT', path });
    this.#bucketId = this.#stage.stores.table.item(itemKey.bucket(bucket))!['id'] as string;
    await this.#limit();
  }

  async run(isOver: () => boolean): Promise<void> {
    const client = (): Promise<void> => this.#request();
    await runClients(this.#stage, isOver, [client, client, client]);
  }

  async check(): Promise<void> {
    const { random } = this.#stage.stores.world.scheduler;
    // In the cloud, the parts of an upload that has ended are counted until a sweep removes them.
    await this.#stage.deployment.tidy();
    await this.#stage.deployment.drain();
    const room = this.#quota.objects - this.#held.objects;
    const bytes = this.#quota.bytes - this.#held.bytes;
    // The flag of the cloud refuses even an empty object where no byte is left.
    const isFull = room <= 0 || (this.#stage.stores.freeChecks ? bytes < 0 : bytes <= 0);
    const put = { method: 'PUT', path: `${path}/check`, body: '' };
    const answer = await this.#stage.network.send(tenants.owner, put, 'PutObject');
    const expected = isFull ? 'QuotaExceeded' : undefined;
    if (answer.code !== expected) {
      const state = JSON.stringify({ held: this.#held, quota: this.#quota });
      throw new Error(`a put is answered ${answer.status} ${answer.code ?? ''} to, where there is ${state}`);
    }
    // Makes room, and sets another quota, which the remaining objects may exceed.
    const remove = ['a', 'b', 'c', 'check'].map((key) => `<Object><Key>${key}</Key></Object>`).join('');
    const body = `<Delete>${remove}</Delete>`;
    await insist(this.#stage, tenants.owner, 'DeleteObjects', { method: 'POST', path, query: 'delete', body });
    this.#quota = random.oneOf(quotas);
    await this.#limit();
  }

  observe = (changes: readonly Change[], _: unknown, before: (key: ItemKey) => Attributes | undefined): void => {
    if (this.#bucketId === '') return;
    const grown = { objects: 0, bytes: 0 };
    for (const change of changes) {
      const [was, is] = [before(change.key), 'put' in change ? change.put : undefined];
      const { objects, bytes } = this.#amountOf(change.key, is);
      const former = this.#amountOf(change.key, was);
      grown.objects += objects - former.objects;
      grown.bytes += bytes - former.bytes;
      // From now on the parts are an object.
      const hasEnded = was?.['state'] === 'open' && is?.['state'] === 'completed';
      if (hasEnded && was['bucketId'] === this.#bucketId) grown.bytes -= this.#endWithParts(change.key.pk);
    }
    this.#held.objects += grown.objects;
    this.#held.bytes += grown.bytes;
    if (!this.#stage.stores.freeChecks) return;
    const isOver = grown.objects > 0 && this.#held.objects > this.#quota.objects;
    const isTooLarge = grown.bytes > 0 && this.#held.bytes > this.#quota.bytes;
    if (isOver || isTooLarge) {
      throw new Error(`a write exceeds the quota: ${JSON.stringify({ held: this.#held, quota: this.#quota })}`);
    }
  };

  async #request(): Promise<void> {
    const { random } = this.#stage.stores.world.scheduler;
    const { owner } = tenants;
    const key = `${path}/${random.oneOf(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'])}`;
    const body = 'x'.repeat(random.oneOf(sizes));
    const kind = random.weighted({ put: 8, delete: 3, deletes: 1, upload: 1 });
    if (kind === 'put') await attempt(this.#stage, owner, 'PutObject', { method: 'PUT', path: key, body });
    if (kind === 'delete') await attempt(this.#stage, owner, 'DeleteObject', { method: 'DELETE', path: key });
    if (kind === 'deletes') {
      const document = '<Delete><Object><Key>a</Key></Object><Object><Key>b</Key></Object></Delete>';
      const deletes = { method: 'POST', path, query: 'delete', body: document };
      await attempt(this.#stage, owner, 'DeleteObjects', deletes);
    }
    if (kind === 'upload') await this.#upload(key, body);
  }

  /** Uploads a part, and completes the upload or aborts it. */
  async #upload(key: string, body: string): Promise<void> {
    const { random } = this.#stage.stores.world.scheduler;
    const { owner } = tenants;
    const begun = { method: 'POST', path: key, query: 'uploads' };
    const created = await attempt(this.#stage, owner, 'CreateMultipartUpload', begun);
    const id = created && /<UploadId>(.*?)<\/UploadId>/.exec(created.text)?.[1];
    if (id === undefined) return;
    const part = { method: 'PUT', path: key, query: `partNumber=1&uploadId=${id}`, body };
    const etag = (await attempt(this.#stage, owner, 'UploadPart', part))?.headers.etag;
    if (etag === undefined || random.next() < 0.3) {
      const abort = { method: 'DELETE', path: key, query: `uploadId=${id}` };
      await attempt(this.#stage, owner, 'AbortMultipartUpload', abort);
    } else {
      const document = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part></CompleteMultipartUpload>`;
      const complete = { method: 'POST', path: key, query: `uploadId=${id}`, body: document };
      await attempt(this.#stage, owner, 'CompleteMultipartUpload', complete);
    }
  }

  /** Sets the quota, as an operator does, and lets the service notice. */
  async #limit(): Promise<void> {
    const { deployment } = this.#stage;
    const { buckets } = deployment.servers[0]!.services;
    await buckets.setQuota(asService(await buckets.load(bucket)), this.#quota);
    // In the cloud, whether it is full is found out when its contents change.
    await insist(this.#stage, tenants.owner, 'DeleteObject', { method: 'DELETE', path: `${path}/check` });
    await deployment.drain();
  }

  /** Notes that an upload is completed. @returns the bytes of its parts */
  #endWithParts(pk: string): number {
    const parts = this.#stage.stores.table.items([pk]).filter(({ key }) => uploadKeyParts.part(key) !== undefined);
    const bytes = parts.reduce((sum, { key, attributes }) => sum + this.#amountOf(key, attributes).bytes, 0);
    this.#completed.add(pk);
    return bytes;
  }

  #amountOf(key: ItemKey, image: Attributes | undefined): { readonly objects: number; readonly bytes: number } {
    const held = image && heldBy(key, image);
    if (held?.bucketId !== this.#bucketId || this.#completed.has(key.pk)) return nothing;
    return countedByQuota(held);
  }
}

const nothing = { objects: 0, bytes: 0 } as const;
