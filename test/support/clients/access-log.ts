/** The names of the fields of a record, in their order. */
const names = [
  'bucketOwner',
  'bucket',
  'time',
  'remoteAddress',
  'requester',
  'requestId',
  'operation',
  'key',
  'requestLine',
  'status',
  'errorCode',
  'bytesSent',
  'objectSize',
  'totalTime',
  'turnAroundTime',
  'referer',
  'userAgent',
  'versionId',
  'hostId',
  'signatureVersion',
  'cipher',
  'authenticationType',
  'host',
  'tls',
  'accessPoint',
  'aclRequired',
  'sourceRegion',
] as const;

/** A record of an access log, by the names of its fields. */
export type ParsedRecord = Readonly<Record<(typeof names)[number], string>>;

/** Splits a record as the patterns do that AWS documents for Athena: at spaces, but for what is in quotes or brackets. */
export function fieldsOf(line: string): readonly string[] {
  const found = line.trimEnd().match(/"[^"]*"|\[[^[\]]*\]|[^\s[\]"]+/g) ?? [];
  return found.map((field) => field.replace(/^["[](.*)["\]]$/, '$1'));
}

/** Parses the records of a log object. */
export function parseLog(text: string): readonly ParsedRecord[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const fields = fieldsOf(line);
    if (fields.length !== names.length) throw new Error(`a record of ${fields.length} fields: ${line}`);
    return Object.fromEntries(names.map((name, at) => [name, fields[at]!])) as unknown as ParsedRecord;
  });
}
