import { encodePath, encodeQuery } from '../s3/address.ts';
import type { S3Request } from '../s3/client.ts';
import { formOf, type IamAction } from '../s3/iam-action.ts';

/** The service that commands address, as in `--endpoint-url`. */
export interface Target {
  readonly endpoint: string;
  readonly region: string;
}

/** A command, and its program if that is not the AWS CLI. */
export interface LabelledCommand {
  readonly command: string;
  readonly label?: string;
}

/** Control characters, on which a terminal acts when a command is pasted, and characters that change how text looks. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/**
 * Quotes a word for a shell if necessary. Unprintable characters are escaped: a terminal acts on a pasted Ctrl+C even within quotes, so
 * that the name of an object could make it run another command. https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_02_04
 */
function quote(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  if (!unprintable.test(word)) return `'${word.replaceAll("'", `'\\''`)}'`;
  const escaped = Array.from(word, (char) =>
    unprintable.test(char) ? octal(char) : char === "'" || char === '\\' ? `\\${char}` : char,
  );
  return `$'${escaped.join('')}'`;
}

/** Returns the UTF-8 bytes of a character in octal: `\342\200\256`. */
const octal = (char: string): string =>
  Array.from(new TextEncoder().encode(char), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');

/** A command of the AWS CLI: `aws --endpoint-url … s3 cp …`. */
export function awsCommand({ endpoint }: Target, ...words: readonly string[]): string {
  return ['aws', '--endpoint-url', endpoint, ...words].map(quote).join(' ');
}

/** An administrative command, for the service of operators at an endpoint: `stillage project suspend …`. */
export function stillageCommand(endpoint: string, ...words: readonly string[]): string {
  return ['stillage', ...words, '--endpoint', endpoint, '--token-file', 'FILE'].map(quote).join(' ');
}

/** The command of the AWS CLI for an action of IAM: `aws … iam list-users`. */
export function iamCommand(target: Target, { name, parameters }: IamAction): string {
  const words = Object.entries(parameters).flatMap(([parameter, value]) => {
    const values = value === undefined ? [] : Array.isArray(value) ? (value as readonly unknown[]) : [value];
    if (values.length === 0) return [];
    return [
      `--${dashed(parameter)}`,
      ...values.map((each) => (typeof each === 'string' ? onOneLine(each) : JSON.stringify(each))),
    ];
  });
  return awsCommand(target, 'iam', dashed(name), ...words);
}

/** `ListUsers` → `list-users` */
const dashed = (name: string): string => name.replace(/\B[A-Z]/g, '-$&').toLowerCase();

/** Policies need no lines in a command. */
function onOneLine(text: string): string {
  if (!text.includes('\n')) return text;
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

/** A curl command that signs with the keys of the environment. Redirects nothing to disk, and holds no secret. */
export function curlCommand(target: Target, request: S3Request): string {
  const path = encodePath(
    request.bucket === undefined
      ? '/'
      : request.key === undefined
        ? `/${request.bucket}`
        : `/${request.bucket}/${request.key}`,
  );
  const query = encodeQuery(request.query ?? {});
  const headers = Object.entries(request.headers ?? {}).flatMap(([name, value]) => ['-H', quote(`${name}: ${value}`)]);
  const method = request.method === 'HEAD' ? ['--head'] : request.method === 'GET' ? [] : ['-X', request.method];
  const { action } = request;
  const content = action === undefined ? request.body : formOf(action);
  const body = content === undefined ? [] : ['--data-binary', quote(content)];
  return [
    'curl',
    ...method,
    '--path-as-is',
    '--aws-sigv4',
    quote(`aws:amz:${target.region}:${action === undefined ? 's3' : 'iam'}`),
    '--user',
    '"$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"',
    // curl adds it by itself only since version 8.
    ...(action === undefined ? ['-H', quote('x-amz-content-sha256: UNSIGNED-PAYLOAD')] : []),
    ...headers,
    ...body,
    quote(`${target.endpoint}${path}${query === '' ? '' : `?${query}`}`),
  ].join(' ');
}

/** `s3api` commands by method, level and sub-resource. */
const commands: Readonly<Record<string, string>> = {
  'GET service': 'list-buckets',
  'PUT bucket': 'create-bucket',
  'HEAD bucket': 'head-bucket',
  'DELETE bucket': 'delete-bucket',
  'GET bucket list-type': 'list-objects-v2',
  'GET bucket versions': 'list-object-versions',
  'GET bucket uploads': 'list-multipart-uploads',
  'POST bucket delete': 'delete-objects',
  'GET bucket versioning': 'get-bucket-versioning',
  'PUT bucket versioning': 'put-bucket-versioning',
  'GET bucket acl': 'get-bucket-acl',
  'PUT bucket acl': 'put-bucket-acl',
  'GET bucket policy': 'get-bucket-policy',
  'PUT bucket policy': 'put-bucket-policy',
  'DELETE bucket policy': 'delete-bucket-policy',
  'GET bucket policyStatus': 'get-bucket-policy-status',
  'GET bucket cors': 'get-bucket-cors',
  'PUT bucket cors': 'put-bucket-cors',
  'DELETE bucket cors': 'delete-bucket-cors',
  'GET bucket website': 'get-bucket-website',
  'PUT bucket website': 'put-bucket-website',
  'DELETE bucket website': 'delete-bucket-website',
  'GET bucket lifecycle': 'get-bucket-lifecycle-configuration',
  'PUT bucket lifecycle': 'put-bucket-lifecycle-configuration',
  'DELETE bucket lifecycle': 'delete-bucket-lifecycle',
  'GET bucket tagging': 'get-bucket-tagging',
  'PUT bucket tagging': 'put-bucket-tagging',
  'DELETE bucket tagging': 'delete-bucket-tagging',
  'GET bucket encryption': 'get-bucket-encryption',
  'PUT bucket encryption': 'put-bucket-encryption',
  'DELETE bucket encryption': 'delete-bucket-encryption',
  'GET bucket publicAccessBlock': 'get-public-access-block',
  'PUT bucket publicAccessBlock': 'put-public-access-block',
  'DELETE bucket publicAccessBlock': 'delete-public-access-block',
  'HEAD object': 'head-object',
  'GET object': 'get-object',
  'PUT object': 'put-object',
  'DELETE object': 'delete-object',
  'GET object tagging': 'get-object-tagging',
  'PUT object tagging': 'put-object-tagging',
  'GET object acl': 'get-object-acl',
  'PUT object acl': 'put-object-acl',
  'PUT object renameObject': 'rename-object',
  'POST object uploads': 'create-multipart-upload',
  'PUT object uploadId': 'upload-part',
  'POST object uploadId': 'complete-multipart-upload',
  'GET object uploadId': 'list-parts',
  'DELETE object uploadId': 'abort-multipart-upload',
};

/** Query parameters that are options of commands, by the option's name. */
const options: Readonly<Record<string, string>> = {
  prefix: '--prefix',
  delimiter: '--delimiter',
  'start-after': '--start-after',
  'continuation-token': '--continuation-token',
  versionId: '--version-id',
  uploadId: '--upload-id',
  partNumber: '--part-number',
};

/**
 * Returns the AWS CLI's equivalent of a request. For requests without one (Stillage's sub-resources, and documents, whose options are JSON
 * there) returns curl's.
 */
export function commandOf(target: Target, request: S3Request): string {
  if (request.action !== undefined) return iamCommand(target, request.action);
  const level = request.bucket === undefined ? 'service' : request.key === undefined ? 'bucket' : 'object';
  const query = request.query ?? {};
  const isCopy = request.headers?.['x-amz-copy-source'] !== undefined;
  const name = Object.keys(query).find((each) => commands[`${request.method} ${level} ${each}`] !== undefined);
  const ownOnes = [
    'account',
    'quota',
    'public-link',
    'monitoring',
    'metric-data',
    'alarm',
    'alarms',
    'alarm-history',
    'webhook',
    'webhooks',
    'webhook-secret',
    'webhook-test',
    'event-deliveries',
  ];
  const command = commands[[request.method, level, ...(name === undefined ? [] : [name])].join(' ')];
  const isOwn = ownOnes.some((each) => each in query);
  if (command === undefined || isOwn || request.body !== undefined) return curlCommand(target, request);
  const words = ['s3api', isCopy ? (query['uploadId'] ? 'upload-part-copy' : 'copy-object') : command];
  if (request.bucket !== undefined) words.push('--bucket', request.bucket);
  if (request.key !== undefined) words.push('--key', request.key);
  for (const [parameter, value] of Object.entries(query)) {
    const option = options[parameter];
    if (option !== undefined && value !== undefined && value !== '') words.push(option, value);
  }
  const source = request.headers?.['x-amz-copy-source'] ?? request.headers?.['x-amz-rename-source'];
  if (source !== undefined) words.push(isCopy ? '--copy-source' : '--rename-source', source);
  if (command === 'get-object') words.push('/dev/stdout');
  return awsCommand(target, ...words);
}

/** The rc file of the profile page. Without a secret it has the command that asks for one. */
export function rcFile(settings: {
  readonly endpoint: string;
  readonly region: string;
  readonly project: string;
  readonly accessKeyId: string;
  readonly secret?: string;
}): string {
  const secret =
    settings.secret === undefined
      ? ['printf "Secret key: " >&2', 'read -rs AWS_SECRET_ACCESS_KEY', 'export AWS_SECRET_ACCESS_KEY']
      : [`export AWS_SECRET_ACCESS_KEY=${quote(settings.secret)}`];
  return [
    '# Settings of the S3 API: source this file in a shell.',
    `export C2_PROJECT=${quote(settings.project)}`,
    `export S3_URL=${quote(settings.endpoint)}`,
    `export AWS_ENDPOINT_URL=${quote(settings.endpoint)}`,
    `export AWS_REGION=${quote(settings.region)}`,
    `export AWS_DEFAULT_REGION=${quote(settings.region)}`,
    `export AWS_ACCESS_KEY_ID=${quote(settings.accessKeyId)}`,
    ...secret,
    '',
  ].join('\n');
}
