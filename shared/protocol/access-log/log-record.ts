/**
 * A record of an access log, in the order of its fields. What is undefined is unknown or does not apply.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html
 */
export interface LogRecord {
  readonly bucketOwner: string;
  readonly bucket: string;
  /** When the request came, in milliseconds since the epoch. */
  readonly time: number;
  readonly remoteAddress: string | undefined;
  readonly requester: string | undefined;
  readonly requestId: string;
  readonly operation: string;
  /** Percent-encoded. */
  readonly key: string | undefined;
  /** `GET /bucket/key HTTP/1.1`; `-`: there was no request. */
  readonly requestLine: string | undefined;
  readonly status: number | undefined;
  readonly errorCode: string | undefined;
  readonly bytesSent: number | undefined;
  readonly objectSize: number | undefined;
  readonly totalMilliseconds: number | undefined;
  readonly turnAroundMilliseconds: number | undefined;
  /** As on the wire, one character for each byte. */
  readonly referer: string | undefined;
  /** As {@link referer}. */
  readonly userAgent: string | undefined;
  readonly versionId: string | undefined;
  readonly hostId: string;
  readonly signatureVersion: 'SigV2' | 'SigV4' | undefined;
  readonly cipher: string | undefined;
  readonly authenticationType: 'AuthHeader' | 'QueryString' | undefined;
  readonly host: string | undefined;
  /** `TLSv1.3` */
  readonly tls: string | undefined;
  readonly aclRequired: boolean;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/**
 * Returns the line of a record, with its line break. No value can end its field or the line, whatever a client sent: what could is
 * percent-encoded, so that readers with and without escapes see the same fields.
 * @param sourceRegion whether the last field is there, the region that the request came from, which is never known
 */
export function logLine(record: LogRecord, { sourceRegion }: { readonly sourceRegion: boolean }): string {
  const fields = [
    bare(record.bucketOwner),
    bare(record.bucket),
    `[${logTime(record.time)}]`,
    bare(record.remoteAddress),
    bare(record.requester),
    bare(record.requestId),
    bare(record.operation),
    bare(record.key),
    quoted(record.requestLine),
    count(record.status),
    bare(record.errorCode),
    positive(record.bytesSent),
    count(record.objectSize),
    count(record.totalMilliseconds),
    count(record.turnAroundMilliseconds),
    quoted(record.referer, '"-"'),
    quoted(record.userAgent, '"-"'),
    bare(record.versionId),
    bare(record.hostId),
    record.signatureVersion ?? '-',
    bare(record.cipher),
    record.authenticationType ?? '-',
    bare(record.host),
    bare(record.tls),
    // Access points do not exist.
    '-',
    record.aclRequired ? 'Yes' : '-',
    ...(sourceRegion ? ['-'] : []),
  ];
  return `${fields.join(' ')}\n`;
}

/** Returns `06/Feb/2019:00:00:38 +0000`. */
function logTime(time: number): string {
  const text = new Date(time).toISOString();
  return `${text.slice(8, 10)}/${months[Number(text.slice(5, 7)) - 1]}/${text.slice(0, 4)}:${text.slice(11, 19)} +0000`;
}

function bare(value: string | undefined): string {
  return value === undefined || value === '' ? '-' : value.replaceAll(/[^!-~]|["\\[\]]/gu, percentEncoded);
}

function quoted(value: string | undefined, absent = '-'): string {
  return value === undefined || value === '' ? absent : `"${value.replaceAll(/[^ -~]|["\\]/gu, percentEncoded)}"`;
}

/** Encodes a byte of a header field, or another character. */
function percentEncoded(character: string): string {
  const code = character.codePointAt(0)!;
  if (code <= 0xff) return `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
  return encodeURIComponent(character.toWellFormed());
}

function count(value: number | undefined): string {
  return value === undefined ? '-' : String(value);
}

function positive(value: number | undefined): string {
  return value === undefined || value === 0 ? '-' : String(value);
}
