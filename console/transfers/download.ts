import { savedName } from '../format/names.ts';
import { downloadCommand } from '../format/object-commands.ts';
import { uriEncode } from '../s3/address.ts';
import type { S3Client } from '../s3/client.ts';
import type { Entry } from '../s3/listing.ts';
import { getObject, headObject } from '../s3/objects.ts';
import { objectsOf } from './actions.ts';
import type { Job } from './job.ts';
import { start } from './queue.ts';

const seconds = 300;

/**
 * Downloads an object by the browser's own means, with its progress and its pause: the browser gets a URL for this one object that
 * ends in five minutes. @throws S3Failure where it cannot be read
 */
export async function downloadObject(client: S3Client, bucket: string, key: string, versionId?: string): Promise<void> {
  await headObject(client, bucket, key, versionId);
  const name = savedName(key);
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const disposition = `attachment; filename="${ascii}"; filename*=UTF-8''${uriEncode(name)}`;
  const query = { versionId, 'response-content-disposition': disposition };
  openHidden(await client.presigned({ method: 'GET', bucket, key, query }, seconds), { sandbox: true });
}

/** Starts a download without leaving the page, even if the answer is an error. */
function openHidden(url: string, options: { readonly sandbox: boolean }): void {
  const frame = document.createElement('iframe');
  frame.hidden = true;
  // The worker always responds with an attachment. Requests of sandboxed frames do not pass through workers.
  if (options.sandbox) frame.setAttribute('sandbox', 'allow-downloads');
  frame.src = url;
  document.body.append(frame);
  setTimeout(() => frame.remove(), 60_000);
}

/** Downloads objects and folders as a zip archive, which is never in memory as a whole. */
export function startArchive(
  client: S3Client,
  bucket: string,
  entries: readonly Entry[],
  options: { readonly name: string; readonly prefix: string },
): Job<Entry> {
  const { name, prefix } = options;
  return start<Entry>({
    kind: 'archive',
    title: name,
    bucket,
    commands: () => entries.map((entry) => downloadCommand(client.signer, bucket, entry)),
    unit: 'bytes',
    concurrency: 1,
    items: async function* () {
      yield [{ kind: 'folder', key: prefix } as const];
    },
    name: () => name,
    amount: () => 0,
    work: async (_, work) => {
      const { downloadZip } = await import('client-zip');
      let bytes = 0;
      const files = async function* () {
        for await (const page of objectsOf(client, bucket, entries, work.signal)) {
          for (const { key, size, modified } of page) {
            const path = safePath(key.slice(prefix.length));
            if (path === '' || path.endsWith('/')) continue;
            let response: Response;
            try {
              response = await getObject(client, bucket, key, { signal: work.signal });
            } catch (error) {
              if (work.signal.aborted) throw error;
              work.fail(key, error);
              continue;
            }
            const body = response.body!.pipeThrough(
              new TransformStream<Uint8Array, Uint8Array>({
                transform: (chunk, controller) => {
                  bytes += chunk.byteLength;
                  work.progress(bytes);
                  controller.enqueue(chunk);
                },
              }),
            );
            yield { name: path, input: body, size, lastModified: new Date(modified) };
          }
        }
      };
      await saveStream(downloadZip(files()).body!, `${name}.zip`, work.signal);
    },
  });
}

/** A path that an unpacker writes nowhere but below its folder. */
function safePath(key: string): string {
  return key
    .replaceAll('\\', '/')
    .split('/')
    .map((segment) => (segment === '..' || segment === '.' ? '_' : segment.replace(/[\p{Cc}:*?"<>|]/gu, '_')))
    .filter((segment, index, all) => segment !== '' || index === all.length - 1)
    .join('/');
}

/** Saves a stream as a file: by the service worker, or from memory if there is no worker. */
async function saveStream(stream: ReadableStream<Uint8Array>, name: string, signal: AbortSignal): Promise<void> {
  const worker = await activeWorker();
  if (worker === undefined) {
    const url = URL.createObjectURL(await new Response(stream).blob());
    const link = document.createElement('a');
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
    return;
  }
  const id = crypto.randomUUID();
  let counted!: ReadableStream<Uint8Array>;
  const ended = new Promise<void>((resolve, reject) => {
    counted = stream.pipeThrough(new TransformStream({ flush: () => resolve() }), { signal });
    signal.addEventListener('abort', () => reject(new DOMException('stopped', 'AbortError')), { once: true });
  });
  const answered = new MessageChannel();
  const ready = new Promise((resolve) => (answered.port1.onmessage = resolve));
  worker.postMessage({ id, name, stream: counted }, [counted, answered.port2]);
  await ready;
  openHidden(`/download/${id}`, { sandbox: false });
  // A worker that hears nothing is ended, and the download with it.
  const alive = setInterval(() => worker.postMessage('alive'), 10_000);
  await ended.finally(() => clearInterval(alive));
}

async function activeWorker(): Promise<ServiceWorker | undefined> {
  if (!('serviceWorker' in navigator)) return undefined;
  try {
    await navigator.serviceWorker.register(workerUrl());
    return (await navigator.serviceWorker.ready).active ?? undefined;
  } catch {
    return undefined;
  }
}

/** The one script that may be made a worker. */
function workerUrl(): string {
  const url = '/download.js';
  const types = (
    globalThis as {
      trustedTypes?: {
        createPolicy(
          name: string,
          rules: { createScriptURL(url: string): string },
        ): { createScriptURL(url: string): unknown };
      };
    }
  ).trustedTypes;
  policy ??= types?.createPolicy('console', { createScriptURL: () => url });
  return (policy?.createScriptURL(url) ?? url) as string;
}

let policy: { createScriptURL(url: string): unknown } | undefined;
