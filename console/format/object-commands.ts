import { awsCommand, curlCommand, type LabelledCommand, type Target } from './commands.ts';
import { grantToEverybody } from './documents.ts';
import type { Entry as ListedEntry } from '../s3/listing.ts';
import type { Retention } from '../s3/object-lock.ts';
import type { Place } from '../s3/objects.ts';

/*
 * Commands for objects and folders: what dialogs show before a transfer, and the list of transfers after it.
 */

/** An object, or a folder with its contents. */
type Entry = Pick<ListedEntry, 'kind' | 'key'>;

/** The destination of copied or moved entries. */
export interface CommandDestination {
  readonly bucket: string;
  /** The new name of each key; of a folder, with its slash. */
  readonly rename: (key: string) => string;
}

/** Returns a path as commands take it for nothing else: not for an option, standard output or a URL. */
const local = (path: string): string => `./${path}`;

const recursive = ({ kind }: Entry): readonly string[] => (kind === 'folder' ? ['--recursive'] : []);

/** Returns the command that copies or moves an object or folder inside the service. */
export function transferCommand(
  target: Target,
  verb: 'cp' | 'mv',
  bucket: string,
  entry: Entry,
  to: CommandDestination,
): string {
  const urls = [`s3://${bucket}/${entry.key}`, `s3://${to.bucket}/${to.rename(entry.key)}`];
  return awsCommand(target, 's3', verb, ...urls, ...recursive(entry));
}

/** Returns the command that deletes an object or folder. */
export const deleteCommand = (target: Target, bucket: string, entry: Entry): string =>
  awsCommand(target, 's3', 'rm', `s3://${bucket}/${entry.key}`, ...recursive(entry));

/** Returns the command that deletes one version permanently. Deleting a delete marker restores the object. */
export function deleteVersionCommand(target: Target, bucket: string, key: string, versionId: string): string {
  const words = ['delete-object', '--bucket', bucket, '--key', key, '--version-id', versionId];
  return awsCommand(target, 's3api', ...words);
}

/** Returns the command that deletes all contents of a bucket, including versions and delete markers. */
export function emptyCommand(target: Target, bucket: string): string {
  const query = '[Versions, DeleteMarkers][].[Key, VersionId]';
  const words = ['list-object-versions', '--bucket', bucket, '--query', query, '--output', 'text'];
  const remove = awsCommand(target, 's3api', 'delete-object', '--bucket', bucket);
  const read = `while IFS="$(printf '\\t')" read -r key version`;
  return `${awsCommand(target, 's3api', ...words)} | ${read}; do ${remove} --key "$key" --version-id "$version"; done`;
}

/** Returns the command that downloads an object, a version of one, or the contents of a folder. */
export function downloadCommand(target: Target, bucket: string, entry: Entry, versionId?: string): string {
  const name = entry.key.slice(entry.key.lastIndexOf('/') + 1) || 'object';
  if (versionId !== undefined) {
    const words = ['get-object', '--bucket', bucket, '--key', entry.key, '--version-id', versionId, local(name)];
    return awsCommand(target, 's3api', ...words);
  }
  return awsCommand(target, 's3', 'cp', `s3://${bucket}/${entry.key}`, '.', ...recursive(entry));
}

/** Returns the command that uploads a file. */
export const uploadCommand = (target: Target, bucket: string, path: string, key: string): string =>
  awsCommand(target, 's3', 'cp', local(path), `s3://${bucket}/${key}`);

/** Returns the start of a loop over the keys in a folder. The AWS CLI changes one object at a time. */
function eachKey(target: Target, bucket: string, prefix: string, body: string): string {
  const keys = ['--query', 'Contents[].[Key]', '--output', 'text'];
  const list = awsCommand(target, 's3api', 'list-objects-v2', '--bucket', bucket, '--prefix', prefix, ...keys);
  return `${list} | while IFS= read -r key; do ${body}; done`;
}

/** Returns the command that makes an object, or all objects in a folder, public, or private except for grants by name. */
export function publicAccessCommand(target: Target, bucket: string, entry: Entry, open: boolean): string {
  const { Grantee } = grantToEverybody;
  const others = `Grants[?Grantee.URI!='${Grantee.URI}']`;
  const grants = open ? `[${others},\`${JSON.stringify([grantToEverybody])}\`][]` : others;
  const key = entry.kind === 'object' ? ['--key', entry.key] : [];
  const each = entry.kind === 'object' ? '' : ' --key "$key"';
  const get = ['get-object-acl', '--bucket', bucket, ...key, '--query', `{Owner:Owner,Grants:${grants}}`];
  const put = ['put-object-acl', '--bucket', bucket, ...key, '--access-control-policy', 'file:///dev/stdin'];
  const read = `${awsCommand(target, 's3api', ...get)} --output json${each}`;
  // A document, since a canned ACL would also replace the grants to others.
  const change = `${read} | ${awsCommand(target, 's3api', ...put)}${each}`;
  return entry.kind === 'object' ? change : eachKey(target, bucket, entry.key, change);
}

/** Returns the key in the command of a link; for a folder, a name in it. */
export const linkKey = ({ kind, key }: Entry): string => (kind === 'object' ? key : `${key}NAME`);

/** Returns the request that creates a public link. */
export function createLinkCommand(target: Target, bucket: string, key: string, seconds: number): string {
  const query = { 'public-link': '', expires: String(seconds) };
  return curlCommand(target, { method: 'POST', bucket, key, query });
}

/** Returns the request that revokes a public link; without an id, those that list the links and revoke one. */
export function revokeLinkCommand(target: Target, bucket: string, key: string, id?: string): string {
  const query = { 'public-link': '' };
  const remove = curlCommand(target, { method: 'DELETE', bucket, key, query: { ...query, id: id ?? 'ID' } });
  return id === undefined ? `${curlCommand(target, { method: 'GET', bucket, key, query })}\n${remove}` : remove;
}

/** Returns the request that a presigned URL is for. */
export const curlOfUrl = (method: 'GET' | 'PUT', url: string): string =>
  `curl ${method === 'PUT' ? '--upload-file FILE ' : ''}'${url}'`;

/** Returns the command that creates a presigned URL. The AWS CLI signs only URLs for reading. */
export function presignCommand(
  target: Target,
  {
    method,
    bucket,
    key,
    seconds,
  }: { readonly method: 'GET' | 'PUT' } & Readonly<Record<'bucket' | 'key', string>> & { readonly seconds: number },
): LabelledCommand {
  if (method === 'GET') {
    const words = ['s3', 'presign', `s3://${bucket}/${key}`, '--expires-in', String(seconds)];
    return { command: awsCommand(target, ...words, '--region', target.region) };
  }
  // A JSON string is also a Python string. Unprintable characters are escaped, as in shell commands.
  const text = (value: string): string =>
    JSON.stringify(value).replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      (char) => `\\U${char.codePointAt(0)!.toString(16).padStart(8, '0')}`,
    );
  const command = [
    'import boto3',
    'from botocore.config import Config',
    '',
    `s3 = boto3.client("s3", endpoint_url=${text(target.endpoint)}, region_name=${text(target.region)},`,
    '                  config=Config(signature_version="s3v4"))',
    `print(s3.generate_presigned_url("put_object", Params={"Bucket": ${text(bucket)}, "Key": ${text(key)}},`,
    `                                ExpiresIn=${seconds}))`,
  ].join('\n');
  return { label: 'Python (boto3)', command };
}

const ofVersion = ({ bucket, key, versionId }: Place): string[] => [
  ...['--bucket', bucket, '--key', key],
  ...(versionId === undefined ? [] : ['--version-id', versionId]),
];

/** Returns the command that sets the retention of a version, or removes it. */
export function retentionCommand(
  target: Target,
  place: Place,
  retention: Retention | undefined,
  bypass: boolean,
): string {
  const document = JSON.stringify(
    retention ? { Mode: retention.mode, RetainUntilDate: retention.until.toISOString() } : {},
  );
  const words = ['put-object-retention', ...ofVersion(place), '--retention', document];
  return awsCommand(target, 's3api', ...words, ...(bypass ? ['--bypass-governance-retention'] : []));
}

/** Returns the command that puts a version under a legal hold, or lifts it. */
export function legalHoldCommand(target: Target, place: Place, on: boolean): string {
  const status = `Status=${on ? 'ON' : 'OFF'}`;
  return awsCommand(target, 's3api', 'put-object-legal-hold', ...ofVersion(place), '--legal-hold', status);
}
