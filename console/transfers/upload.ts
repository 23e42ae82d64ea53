import { contentTypeOf } from '../format/names.ts';
import { uploadCommand } from '../format/object-commands.ts';
import type { S3Client, Upload } from '../s3/client.ts';
import { isFailure, S3Failure } from '../s3/failure.ts';
import {
  completeMultipartUpload,
  createMultipartUpload,
  listParts,
  multipartFrom,
  partSizeOf,
  type Part,
} from '../s3/multipart.ts';
import { headObject } from '../s3/objects.ts';
import { session } from '../session/session.ts';
import { begunPartsOf, forgetParts, keepParts, type BegunParts } from './begun-parts.ts';
import { Conflicts, type Ask } from './conflicts.ts';
import { once, type Job, type Work } from './job.ts';
import { start } from './queue.ts';
import { UploadQueue, type QueuedFile } from './upload-queue.ts';

/** A file, and the key it shall have. */
export interface UploadItem {
  readonly file: File;
  /** The path within the chosen or dropped folder: `photos/a.jpg`. */
  readonly path: string;
  readonly key: string;
}

type Sending = Pick<Work, 'signal' | 'progress'>;

/** Browsers open six connections to a service; one is left for everything else. */
const slots = 5;
let free = slots;
const waiting: (() => void)[] = [];

async function withSlot<T>(act: () => Promise<T>): Promise<T> {
  if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
  else free--;
  try {
    return await act();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else free++;
  }
}

/**
 * Uploads files, several at a time, large ones by parts.
 *
 * @param options.queueId the stored rest of an upload that a closed page left, to resume it
 */
export function startUpload(
  client: S3Client,
  bucket: string,
  items: readonly UploadItem[],
  options: { readonly title: string; readonly ask: Ask; readonly queueId?: string | undefined },
): Job<UploadItem> {
  const { title, queueId } = options;
  const conflicts = new Conflicts(options.ask);
  const queue =
    queueId === undefined
      ? UploadQueue.begin(client, bucket, title, items.map(queuedFileOf))
      : UploadQueue.resume(queueId);
  const job: Job<UploadItem> = start<UploadItem>({
    kind: 'upload',
    title,
    bucket,
    commands: () => items.map(({ path, key }) => uploadCommand(client.signer, bucket, path, key)),
    unit: 'bytes',
    concurrency: 4,
    items: () => once(items),
    name: ({ key }) => key,
    amount: ({ file }) => file.size,
    work: async ({ file, key }, work) => {
      const known = file.size >= multipartFrom ? await begunPartsOf(client, bucket, key, file) : undefined;
      if (known !== undefined) await uploadParts(client, known, file, work, false);
      else {
        await conflicts.write(key, (name, ifAbsent) =>
          file.size < multipartFrom
            ? uploadWhole(client, bucket, name, file, work, ifAbsent)
            : uploadLarge(client, bucket, name, file, work, ifAbsent),
        );
      }
      queue.sent(key);
    },
    ended: () => {
      const state = job.state.peek();
      // Stopping an upload drops it. After signing out, or the loss of the key, it can be resumed later.
      const isGivenUp = state === 'stopped' && session.peek()?.client === client;
      // What failed can be tried again for as long as the page is open.
      if (state !== 'failed') void queue.end(isGivenUp);
    },
  });
  return job;
}

const queuedFileOf = ({ file: { size, lastModified }, path, key }: UploadItem): QueuedFile => ({
  ...{ path, key, size, lastModified },
});

const headersOf = (file: File): Record<string, string> => ({ 'content-type': contentTypeOf(file.name, file.type) });
const ifNone = (ifAbsent: boolean): Record<string, string> => (ifAbsent ? { 'if-none-match': '*' } : {});

function uploadWhole(
  client: S3Client,
  bucket: string,
  key: string,
  file: File,
  work: Sending,
  ifAbsent: boolean,
): Promise<void> {
  return withSlot(async () => {
    const headers = { ...headersOf(file), ...ifNone(ifAbsent) };
    await send(client, { bucket, key, headers, body: file, signal: work.signal, onProgress: work.progress });
  });
}

async function uploadLarge(
  client: S3Client,
  bucket: string,
  key: string,
  file: File,
  work: Sending,
  ifAbsent: boolean,
): Promise<void> {
  // Existing names are detected before the bytes are sent, and again at the write itself.
  if (ifAbsent) await refuseIfTaken(client, bucket, key);
  const uploadId = await createMultipartUpload(client, bucket, key, headersOf(file));
  const { size, lastModified, name } = file;
  const { endpoint, credentials } = client.signer;
  const begun: BegunParts = {
    accessKeyId: credentials.accessKeyId,
    endpoint,
    bucket,
    key,
    name,
    size,
    lastModified,
    uploadId,
    partSize: partSizeOf(size),
  };
  await keepParts(begun);
  await uploadParts(client, begun, file, work, ifAbsent);
}

async function refuseIfTaken(client: S3Client, bucket: string, key: string): Promise<void> {
  try {
    await headObject(client, bucket, key);
  } catch (error) {
    if (isFailure(error) && (error.status === 404 || error.status === 403)) return;
    throw error;
  }
  throw new S3Failure({ status: 412, code: 'PreconditionFailed', message: '', requestId: '' });
}

/** Sends the parts that the service does not have, and completes the upload. */
async function uploadParts(
  client: S3Client,
  begun: BegunParts,
  file: File,
  work: Sending,
  ifAbsent: boolean,
): Promise<void> {
  const { bucket, key, uploadId, partSize } = begun;
  const parts = new Map<number, Part>();
  const sent = new Map<number, number>();
  const report = (): void => work.progress([...sent.values()].reduce((sum, bytes) => sum + bytes, 0));
  const sizeOf = (number: number): number => Math.min(partSize, file.size - (number - 1) * partSize);
  for (const part of await listParts(client, bucket, key, uploadId)) {
    if (part.size !== sizeOf(part.number)) continue;
    parts.set(part.number, part);
    sent.set(part.number, part.size);
  }
  report();
  const missing = Array.from({ length: Math.ceil(file.size / partSize) }, (_, index) => index + 1).filter(
    (number) => !parts.has(number),
  );
  const sendNext = async (): Promise<void> => {
    for (let number = missing.shift(); number !== undefined; number = missing.shift()) {
      const part = number;
      const body = file.slice((part - 1) * partSize, part * partSize);
      const etag = await withSlot(() =>
        sendPart(client, begun, part, body, work.signal, (bytes) => {
          sent.set(part, bytes);
          report();
        }),
      );
      parts.set(part, { number: part, size: body.size, etag });
      sent.set(part, body.size);
      report();
    }
  };
  await Promise.all(Array.from({ length: slots - 1 }, sendNext));
  await completeMultipartUpload(client, { bucket, key, uploadId }, [...parts.values()], ifNone(ifAbsent));
  await forgetParts(uploadId).catch(() => undefined);
}

async function sendPart(
  client: S3Client,
  { bucket, key, uploadId }: BegunParts,
  number: number,
  body: Blob,
  signal: AbortSignal,
  onProgress: (bytes: number) => void,
): Promise<string> {
  const query = { partNumber: String(number), uploadId };
  const headers = await send(client, { bucket, key, query, body, signal, onProgress });
  return (headers.get('etag') ?? '').replaceAll('"', '');
}

const maxAttempts = 4;

/** Sends bytes, several times if the service is busy. */
async function send(client: S3Client, upload: Upload): Promise<Headers> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await client.upload(upload);
    } catch (error) {
      upload.onProgress(0);
      const passes = isFailure(error) && error.status >= 500;
      if (upload.signal.aborted || !passes || attempt === maxAttempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** attempt));
    }
  }
}
