import { setTimeout as sleep } from 'node:timers/promises';
import type * as S3 from '@aws-sdk/client-s3';
import { TargetFailed } from '../../ports/backup-target.ts';
import { second } from '../../ports/durations.ts';

/** The pauses, in seconds, after which a call that failed is tried again, besides the SDK's own attempts: a network may be away for minutes. */
const pauses = [1, 2, 4, 8, 15, 30, 60];
/** The time without a byte after which a connection counts as lost. */
const idleTime = 60 * second;
const connectTime = 10 * second;

/** The SDK, and a client of an S3. */
export interface LoadedClient {
  readonly sdk: typeof S3;
  readonly client: S3.S3Client;
}

/**
 * Loads the SDK, which is not installed with the package because most of its users have no other S3, and makes a client with credentials as
 * the SDK finds them: environment, profile, or the machine's role.
 * @param purpose what needs the SDK, for the message
 * @param more settings for a client of another kind
 * @throws TargetFailed
 */
export async function loadClient(
  { endpoint, region }: { readonly endpoint: string | undefined; readonly region: string | undefined },
  purpose: string,
  more: S3.S3ClientConfig = {},
): Promise<LoadedClient> {
  // The SDK would print warnings about Node.js versions among the program's output.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const sdk = await loadSdk(purpose);
  const client = new sdk.S3Client({
    // Older versions of other S3s know none of the newer checksums. Backups have their own, and moves verify ETags.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: connectTime, socketTimeout: idleTime },
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...more,
  });
  return { sdk, client };
}

async function loadSdk(purpose: string): Promise<typeof S3> {
  try {
    return await import('@aws-sdk/client-s3');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new TargetFailed(`${purpose} need the AWS SDK, which is not installed; run: npm install @aws-sdk/client-s3`);
  }
}

/**
 * Makes a call, again and again as long as its failure may pass.
 * @param patience the attempts after the first, by the status of a response, or undefined if there was none
 * @throws what the last attempt threw
 */
export async function persistently<Result>(
  call: () => Promise<Result>,
  patience: (status: number | undefined) => number = () => pauses.length,
): Promise<Result> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      const pause = mayPass(error) && attempt < patience(statusOf(error)) ? pauses[attempt] : undefined;
      if (pause === undefined) throw error;
      await sleep(pause * second);
    }
  }
}

/** Returns the failure of a call, in one line. */
export function failed(doing: string, name: string, cause: unknown): TargetFailed {
  const { name: kind, message } = cause as Error;
  return new TargetFailed(`cannot ${doing} ${name}: ${kind}: ${message.split('\n', 1)[0]!}`, { cause });
}

/** Tells whether an error is that of a network, or of a store that may answer later. */
function mayPass(error: unknown): boolean {
  const status = statusOf(error);
  if (status !== undefined) return status >= 500 || status === 429;
  // Of the system, such as ECONNRESET, or the SDK's own; what it says of credentials has neither.
  const { code, name } = error as NodeJS.ErrnoException;
  return (code !== undefined && /^E[A-Z]+$/.test(code)) || name === 'TimeoutError';
}

/** Returns the status of a response that is an error; undefined for what is none. */
export function statusOf(error: unknown): number | undefined {
  return (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
