import { withDeps, type Deps } from '../../local/cli/data-deps.ts';
import { followingTheFeed } from '../../local/cli/following-the-feed.ts';
import { composeEmbeddedService, type EmbeddedService } from '../../local/server/embedded-service.ts';
import { scrubDeps } from '../../functions/compose/scrub.ts';
import { openData, type DataDirectory } from '../../local/server/data-directory/data-directory.ts';
import { readOptions } from '../../local/package/options.ts';
import { CryptoRandomness } from '../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { Fields } from '../../shared/http/message.ts';
import type { ScrubDeps } from '../../shared/scrub/deps.ts';
import { scrub } from '../../shared/scrub/scrub.ts';
import { textOf as elementOf, textsOf } from '../support/clients/expect-error.ts';
import { accounts, alice } from '../support/programs/server.ts';
import { queryOf, signed, type Unsigned } from '../support/clients/signer.ts';
import { md5, type Version, type World } from './world.ts';

/*
 * A child process that starts the service, without a listener, on the directory in each message, and replies with the state that clients
 * can see, and with any inconsistencies. Damage may end the process.
 */

/** What to inspect. */
export interface Order {
  readonly data: string;
  /** Whether to scrub the directory before the service starts on it. */
  readonly isScrubbedFirst: boolean;
}

/** The data found in a directory. */
export interface Found {
  readonly world: World;
  /** The ETags of the objects that were read, with the MD5 of their bytes. */
  readonly etags: readonly (readonly [md5: string, etag: string])[];
  /** Inconsistencies, in words. */
  readonly faults: readonly string[];
}

/**
 * Findings that a crash may leave: bytes and documents without references, and the mark of a bucket that was being deleted, which expires
 * by itself: docs/durability.md.
 */
const harmless = new Set(['orphan-blob', 'orphan-details', 'orphan-manifest', 'orphan-document', 'stale-transition']);
const host = 'stillage.test';
const clock = new SystemClock();
const randomness = new CryptoRandomness();

process.on('message', (order: Order) => {
  inspect(order).then(
    (found) => process.send!({ found }),
    (error: Error) => process.send!({ failure: error.stack ?? error.message }),
  );
});
process.on('disconnect', () => process.exit());

async function inspect({ data, isScrubbedFirst }: Order): Promise<Found> {
  const faults: string[] = [];
  if (isScrubbedFirst) faults.push(...(await withDeps(data, scrubbedBefore)));
  const problem = (message: string, error?: unknown): void => {
    faults.push(`${message}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  };
  const directory = await openData(data, (failure) => problem('the table cannot be used', failure));
  const telemetry = { request: () => undefined, note: () => undefined, problem };
  // The background scrub would read nothing, as all blobs are new to it, but list them all.
  const options = { ...readOptions({ data, scrubRate: '0' }), limit: { minimumPartBytes: 1 } };
  const declared = accounts.map(({ project, users, ...rest }) => ({ project, users, ...rest }));
  const service = await composeEmbeddedService({ ...directory, clock, randomness, telemetry, declared }, options);
  const reader = new Reader(service, faults);
  const world = await reader.world();
  faults.push(...(await scrubbed(directory, service)));
  await reader.write();
  await service.close();
  return { world, etags: reader.etags, faults };
}

/** Scrubs while no service runs, as `stillage scrub` does: released content has not been freed then. */
async function scrubbedBefore(opened: Deps): Promise<string[]> {
  const deps = scrubDeps(opened);
  return followingTheFeed(opened, deps.uploads, (drain) => faultsOf({ ...deps, drain }));
}

async function scrubbed(directory: DataDirectory, service: EmbeddedService): Promise<string[]> {
  return faultsOf({ ...scrubDeps({ ...directory, clock, randomness }), drain: () => service.kept.drain() });
}

async function faultsOf(deps: ScrubDeps): Promise<string[]> {
  const findings: string[] = [];
  const { leftOut } = await scrub(deps, {
    ...{ repair: false, content: true, minAge: 0, filterBytes: 65_536 },
    onFinding: ({ kind, where, what }) => {
      if (!harmless.has(kind)) findings.push(`scrub: ${kind} ${where}: ${what}`);
    },
  });
  return [...findings, ...leftOut];
}

interface Response {
  readonly status: number;
  readonly fields: Fields;
  readonly body: Buffer;
  /** Computed on demand: most bodies are objects. */
  readonly text: string;
}

/** Reads everything that clients can see, through the pipeline. */
class Reader {
  readonly etags: [string, string][] = [];
  readonly #service: EmbeddedService;
  readonly #faults: string[];

  constructor(service: EmbeddedService, faults: string[]) {
    this.#service = service;
    this.#faults = faults;
  }

  async world(): Promise<World> {
    const buckets = textsOf((await this.#send({ path: '/' })).text, 'Name');
    const parts = await Promise.all(buckets.map((bucket) => this.#bucket(bucket)));
    const own = buckets.filter((bucket) => bucket.endsWith('-own'));
    return {
      objects: Object.assign({}, ...parts.map(({ objects }) => objects)) as World['objects'],
      uploads: Object.assign({}, ...parts.map(({ uploads }) => uploads)) as World['uploads'],
      settings: Object.assign({}, ...parts.map(({ settings }) => settings)) as World['settings'],
      buckets: own,
    };
  }

  /** Expects that the service accepts writes again, small and large. */
  async write(): Promise<void> {
    if ((await this.#send({ method: 'HEAD', path: '/plain' })).status !== 200) return;
    for (const size of [10, 40_000]) {
      const body = Buffer.alloc(size, 'after the cut ');
      const put = await this.#send({ method: 'PUT', path: '/plain/after-the-cut', body });
      const got = await this.#send({ path: '/plain/after-the-cut' });
      if (put.status !== 200 || !got.body.equals(body)) this.#faults.push(`a write was answered ${put.status}`);
    }
  }

  async #bucket(bucket: string): Promise<Omit<World, 'buckets'>> {
    const objects: Record<string, Version[]> = {};
    const settings: Record<string, string> = {};
    let [count, size] = [0, 0];
    const current = new Map<string, string>();
    const { text } = await this.#send({ path: `/${bucket}`, query: 'versions' });
    const rows = [...text.matchAll(/<(Version|DeleteMarker)>(.*?)<\/\1>/gs)].map(([, kind, row]) => {
      const key = elementOf(row!, 'Key')!;
      return { kind, key, row: row!, place: `${bucket}/${key}` };
    });
    const read = await Promise.all(
      rows.map(async ({ kind, row, place }): Promise<Version> => {
        return kind === 'DeleteMarker' ? { md5: null } : this.#version(place, row);
      }),
    );
    for (const [at, { kind, key, row, place }] of rows.entries()) {
      const isFirst = objects[place] === undefined;
      (objects[place] ??= []).push(read[at]!);
      if (kind === 'DeleteMarker') continue;
      count += 1;
      size += Number(elementOf(row, 'Size'));
      if (isFirst) current.set(key, elementOf(row, 'ETag')!);
    }
    const listed = await this.#send({ path: `/${bucket}`, query: 'list-type=2' });
    const etags = textsOf(listed.text, 'ETag');
    const listing = JSON.stringify(textsOf(listed.text, 'Key').map((key, at) => [key, etags[at]]));
    if (listing !== JSON.stringify([...current])) this.#faults.push(`the listings of ${bucket} differ`);
    const head = await this.#send({ method: 'HEAD', path: `/${bucket}` });
    const counted = [head.fields.get('x-rgw-object-count'), head.fields.get('x-rgw-bytes-used')].map(Number);
    if (counted[0] !== count || counted[1] !== size) {
      this.#faults.push(`${bucket} counts ${counted.join(' objects, ')} bytes instead of ${count}, ${size}`);
    }
    const tags = await this.#send({ path: `/${bucket}`, query: 'tagging' });
    if (tags.status === 200) settings[`${bucket}?tagging`] = elementOf(tags.text, 'Value') ?? '';
    return { objects, settings, uploads: await this.#uploads(bucket) };
  }

  async #version(place: string, row: string): Promise<Version> {
    const query = queryOf({ versionId: elementOf(row, 'VersionId')! });
    const got = await this.#send({ path: `/${place}`, query });
    const isTagged = got.fields.get('x-amz-tagging-count') !== undefined;
    const tag = isTagged ? await this.#send({ path: `/${place}`, query: `tagging=&${query}` }) : undefined;
    const etag = unquoted(got.fields.get('etag'));
    const found = md5(got.body);
    const refused = [got, tag].find((answer) => answer !== undefined && answer.status !== 200);
    if (refused !== undefined) this.#faults.push(`${place} was answered ${refused.status}`);
    if (etag !== unquoted(elementOf(row, 'ETag'))) this.#faults.push(`the listing has another ETag of ${place}`);
    if (Number(elementOf(row, 'Size')) !== got.body.length)
      this.#faults.push(`the listing has another size of ${place}`);
    this.etags.push([found, etag]);
    return { md5: found, tag: tag === undefined ? '' : (elementOf(tag.text, 'Value') ?? '') };
  }

  async #uploads(bucket: string): Promise<World['uploads']> {
    const uploads: Record<string, Record<string, string>> = {};
    const { text } = await this.#send({ path: `/${bucket}`, query: 'uploads' });
    const ids = textsOf(text, 'UploadId');
    for (const [at, key] of textsOf(text, 'Key').entries()) {
      const place = `${bucket}/${key}`;
      const parts = await this.#send({ path: `/${place}`, query: queryOf({ uploadId: ids[at]! }) });
      const etags = textsOf(parts.text, 'ETag');
      const numbers = textsOf(parts.text, 'PartNumber');
      if (uploads[place] !== undefined) this.#faults.push(`${place} has two uploads`);
      uploads[place] = Object.fromEntries(numbers.map((number, part) => [number, unquoted(etags[part])]));
    }
    return uploads;
  }

  async #send(unsigned: Unsigned): Promise<Response> {
    const { method, target, headers, body } = signed(host, unsigned, { key: alice, payloadHash: 'UNSIGNED-PAYLOAD' });
    const request = { method, target, fields: new Fields(headers), secure: false, remoteAddress: '192.0.2.7' };
    const response = await this.#service.pipeline.handle({ ...request, body: once(body) });
    const chunks: Uint8Array[] = [];
    if (typeof response.body === 'string' || response.body instanceof Uint8Array)
      chunks.push(Buffer.from(response.body));
    else if (response.body !== undefined) for await (const chunk of response.body) chunks.push(Buffer.from(chunk));
    const whole = Buffer.concat(chunks);
    if (response.status >= 500) this.#faults.push(`${method} ${target} was answered ${response.status}`);
    return {
      ...{ status: response.status, fields: response.fields, body: whole },
      get text() {
        return whole.toString();
      },
    };
  }
}

async function* once(body: string | Uint8Array = ''): AsyncGenerator<Uint8Array> {
  if (body.length > 0) yield Buffer.from(body);
}

function unquoted(etag: string | undefined): string {
  return etag?.replaceAll(/"|&quot;/g, '') ?? '';
}
