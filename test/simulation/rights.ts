import { itemKey } from '../../shared/storage/table/keys/keys.ts';
import type { Attributes, Change, ItemKey } from '../../shared/ports/key-value-table.ts';
import type { Unsigned } from '../support/clients/signer.ts';
import { attempt, insist, runClients, type Scenario, type Stage } from './scenario.ts';
import type { Writer } from './table-state.ts';
import { longestHidden } from './table.ts';
import { tenants, type Tenant } from './tenants.ts';

const bucket = 'shared';
const resources = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`];
const policy = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: { AWS: tenants.guest.name }, Action: 's3:*', Resource: resources }],
});
const tagging = '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>';
const ownership =
  '<OwnershipControls><Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership></Rule></OwnershipControls>';
const cors =
  '<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>';

/** When the rights of a request count: at its commit, or whenever it is authorised. */
type Counts = 'at the commit' | 'when authorised';

/** Requests by a client that may or may not be allowed to make them: docs/permissions.md. */
const requests: Readonly<Record<string, readonly [Counts, (key: string, other: string) => Unsigned]>> = {
  PutObject: ['when authorised', (key) => ({ method: 'PUT', path: key, body: `of a guest: ${key}` })],
  CopyObject: [
    'when authorised',
    (key, other) => ({ method: 'PUT', path: key, headers: { 'x-amz-copy-source': other } }),
  ],
  CreateMultipartUpload: ['when authorised', (key) => ({ method: 'POST', path: key, query: 'uploads' })],
  GetObject: ['when authorised', (key) => ({ path: key })],
  ListObjectsV2: ['when authorised', () => ({ path: `/${bucket}`, query: 'list-type=2' })],
  DeleteObject: ['at the commit', (key) => ({ method: 'DELETE', path: key })],
  DeleteObjects: [
    'at the commit',
    (key, other) => ({
      method: 'POST',
      path: `/${bucket}`,
      query: 'delete',
      body: `<Delete>${[key, other].map((path) => `<Object><Key>${path.split('/')[2]}</Key></Object>`).join('')}</Delete>`,
    }),
  ],
  RenameObject: [
    'at the commit',
    (key, other) => ({ method: 'PUT', path: key, query: 'renameObject', headers: { 'x-amz-rename-source': other } }),
  ],
  PutObjectTagging: ['at the commit', (key) => ({ method: 'PUT', path: key, query: 'tagging', body: tagging })],
  DeleteObjectTagging: ['at the commit', (key) => ({ method: 'DELETE', path: key, query: 'tagging' })],
  PutBucketTagging: ['at the commit', () => ({ method: 'PUT', path: `/${bucket}`, query: 'tagging', body: tagging })],
  PutBucketCors: ['at the commit', () => ({ method: 'PUT', path: `/${bucket}`, query: 'cors', body: cors })],
};
const names = Object.keys(requests);

/** Requests whose permissions a commit checks even where conditions are not free, as they are rare. */
const bucketRequests = new Set(['PutBucketTagging', 'PutBucketCors']);

/**
 * A bucket whose owner repeatedly grants a guest all permissions and revokes them, while the guest and a stranger try to change it. No
 * change or read may succeed without authorisation, and no authorised one may be refused.
 */
export class Rights implements Scenario {
  readonly #stage: Stage;
  #bucketId = '';
  /** The last moments at which the guest had rights, and had none. */
  #lastAllowed = Number.NEGATIVE_INFINITY;
  #lastDenied = Number.POSITIVE_INFINITY;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async prepare(): Promise<void> {
    await insist(this.#stage, tenants.owner, 'CreateBucket', { method: 'PUT', path: `/${bucket}` });
    // With it, the guest has no permissions for the objects that it put.
    const set = { method: 'PUT', path: `/${bucket}`, query: 'ownershipControls', body: ownership };
    await insist(this.#stage, tenants.owner, 'PutBucketOwnershipControls', set);
    this.#bucketId = this.#stage.stores.table.item(itemKey.bucket(bucket))!['id'] as string;
    this.#lastDenied = this.#now;
  }

  async run(isOver: () => boolean): Promise<void> {
    const { random } = this.#stage.stores.world.scheduler;
    const owner = async (): Promise<void> => {
      const path = `/${bucket}`;
      if (random.next() < 0.4) {
        const put = { method: 'PUT', path: this.#key(), body: 'of the owner' };
        await attempt(this.#stage, tenants.owner, 'PutObject', put);
      } else if (this.#isAllowed) {
        const remove = { method: 'DELETE', path, query: 'policy' };
        await attempt(this.#stage, tenants.owner, 'DeleteBucketPolicy', remove);
      } else {
        const put = { method: 'PUT', path, query: 'policy', body: policy };
        await attempt(this.#stage, tenants.owner, 'PutBucketPolicy', put);
      }
    };
    const guest = (): Promise<void> => this.#try(tenants.guest);
    await runClients(this.#stage, isOver, [owner, guest, guest, guest, () => this.#try(tenants.stranger)]);
  }

  async check(): Promise<void> {
    const { status } = await this.#stage.network.send(tenants.guest, { path: `/${bucket}` }, 'ListObjects');
    const right = this.#isAllowed ? 200 : 403;
    if (status !== right) throw new Error(`the guest is answered ${status} instead of ${right}`);
  }

  observe = (changes: readonly Change[], by: Writer, before: (key: ItemKey) => Attributes | undefined): void => {
    // A document counts once the bucket refers to it.
    const own = changes.filter(
      ({ key: { pk } }) => (pk.includes(this.#bucketId) && !pk.startsWith('doc/')) || pk === `bucket/${bucket}`,
    );
    if (this.#bucketId === '' || own.length === 0) return;
    const { caller = '', operation = '', began = 0 } = by.request ?? {};
    if (caller === tenants.stranger.name) throw new Error(`a stranger's ${operation} changes ${own[0]!.key.pk}`);
    if (caller === tenants.guest.name) {
      const had = before({ pk: `bucket/${bucket}`, sk: '-' });
      const isAllowed = had === undefined ? this.#isAllowed : isGranted(had);
      const isExact = this.#stage.stores.freeChecks || bucketRequests.has(operation);
      const mustStillHave = isExact && requests[operation]![0] === 'at the commit';
      const may = mustStillHave ? isAllowed : isAllowed || began <= this.#lastAllowed + longestHidden;
      if (!may) {
        throw new Error(`the guest's ${operation}, begun at ${began}, changes ${own[0]!.key.pk} without a right to`);
      }
    }
    if (changes.some(({ key: { pk } }) => pk === `bucket/${bucket}`)) {
      // It was as it was until now.
      if (isGranted(before({ pk: `bucket/${bucket}`, sk: '-' }))) this.#lastAllowed = this.#now;
      else this.#lastDenied = this.#now;
    }
  };

  async #try(by: Tenant): Promise<void> {
    const { random } = this.#stage.stores.world.scheduler;
    const operation = random.oneOf(names);
    const began = this.#now;
    const keys = ['a', 'b', 'c'].map((key) => `/${bucket}/${key}`);
    const key = random.oneOf(keys);
    const unsigned = requests[operation]![1](key, random.oneOf(keys.filter((other) => other !== key)));
    const response = await attempt(this.#stage, by, operation, unsigned);
    if (response === undefined) return;
    // DeleteObjects answers each key separately.
    const isDenied = response.status === 403 || response.text.includes('<Code>AccessDenied</Code>');
    const mayBeAllowed = by === tenants.guest && (this.#isAllowed || this.#lastAllowed + longestHidden >= began);
    const mayBeDenied = by !== tenants.guest || !this.#isAllowed || this.#lastDenied + longestHidden >= began;
    const answer = `${by.name} is answered ${response.status} to ${operation} ${unsigned.path}`;
    if (isDenied && !mayBeDenied) throw new Error(`${answer}, with all rights`);
    if (!isDenied && !mayBeAllowed) throw new Error(`${answer}, without rights`);
  }

  /** True if the guest has rights at this moment. */
  get #isAllowed(): boolean {
    return isGranted(this.#stage.stores.table.item(itemKey.bucket(bucket)));
  }

  #key(): string {
    return `/${bucket}/${this.#stage.stores.world.scheduler.random.oneOf(['a', 'b', 'c'])}`;
  }

  get #now(): number {
    return this.#stage.stores.world.scheduler.now;
  }
}

function isGranted(item: Attributes | undefined): boolean {
  return 'policy' in ((item?.['docs'] ?? {}) as Attributes);
}
