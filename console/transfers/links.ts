import { signal, type ReadonlySignal } from '@preact/signals';
import { objectsOf } from './actions.ts';
import type { Job } from './job.ts';
import { start } from './queue.ts';
import { createLinkCommand, linkKey, revokeLinkCommand } from '../format/object-commands.ts';
import { createPublicLink, deletePublicLink, listPublicLinks } from '../s3/access.ts';
import type { S3Client } from '../s3/client.ts';
import type { Entry, ObjectEntry } from '../s3/listing.ts';

const concurrency = 5;

/** A link created here, with the key of its object. The service returns its URL only once, so only this page has it. */
export interface MadeLink {
  readonly key: string;
  readonly url: string;
}

/** The links that a job has created. The list grows in place: a folder may have a million objects. */
export interface MadeLinks {
  readonly made: readonly MadeLink[];
  /** The number of links, which changes whenever one is created. */
  readonly count: ReadonlySignal<number>;
}

/** Folders are objects, too, but get no link. */
async function* files(
  client: S3Client,
  bucket: string,
  entries: readonly Entry[],
  signal: AbortSignal,
): AsyncGenerator<readonly ObjectEntry[]> {
  for await (const page of objectsOf(client, bucket, entries, signal)) {
    yield page.filter(({ key }) => !key.endsWith('/'));
  }
}

/** Makes a public link for each object, and for each in folders. Returns the job, and the links as they are made. */
export function startLinks(
  client: S3Client,
  bucket: string,
  entries: readonly Entry[],
  seconds: number,
  title: string,
): { readonly job: Job<ObjectEntry>; readonly links: MadeLinks } {
  const made: MadeLink[] = [];
  const count = signal(0);
  const job = start<ObjectEntry>({
    kind: 'links',
    title,
    bucket,
    commands: () => entries.map((entry) => createLinkCommand(client.signer, bucket, linkKey(entry), seconds)),
    unit: 'objects',
    concurrency,
    items: (stopped) => files(client, bucket, entries, stopped),
    name: ({ key }) => key,
    amount: () => 1,
    work: async ({ key }) => {
      const { url } = await createPublicLink(client, { bucket, key }, seconds);
      if (url !== undefined) count.value = made.push({ key, url });
    },
  });
  return { job, links: { made, count } };
}

/** Revokes all public links of objects, and of all objects in folders, by any user. */
export function startRevocation(
  client: S3Client,
  bucket: string,
  entries: readonly Entry[],
  title: string,
): Job<ObjectEntry> {
  return start<ObjectEntry>({
    kind: 'revoke',
    title,
    bucket,
    commands: () => entries.map((entry) => revokeLinkCommand(client.signer, bucket, linkKey(entry))),
    unit: 'objects',
    concurrency,
    items: (stopped) => files(client, bucket, entries, stopped),
    name: ({ key }) => key,
    amount: () => 1,
    work: async ({ key }) => {
      for (const { id } of await listPublicLinks(client, { bucket, key })) {
        await deletePublicLink(client, { bucket, key }, id);
      }
    },
  });
}
