import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forLambda } from '../../infra/bundles/bundle.ts';
import { withoutPlainErrors, withPropertyNames } from '../../infra/bundles/lean-sdk.ts';
import { root } from '../../infra/bundles/operation-descriptions.ts';
import { temporaryDirectory } from './synthesis.ts';

it('properties that are named by constants get the names, and all else stays', () => {
  const source = 'const _e = "error";\nconst _n = 3;\nvar A = [-3, _e, { [_e]: _c, [_n]: 4, [other]: 5 }];';
  expect(withPropertyNames(source)).toBe(
    'const _e = "error";\nconst _n = 3;\nvar A = [-3, _e, { "error": _c, [_n]: 4, [other]: 5 }];',
  );
});

/** An error of a service, as a bundled client throws it. */
interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly isOfItsClass: boolean;
  readonly isRetryable: boolean;
  readonly status: number;
  readonly reasons?: readonly { readonly Code: string }[];
}

describe('a bundled client', () => {
  let directory: string;
  let answered: (status: number, body: object) => Promise<Thrown>;
  let found: (status: number, body: string) => Promise<Thrown>;
  beforeAll(async () => {
    directory = await temporaryDirectory();
    const file = join(directory, 'errors.mjs');
    await build({
      ...forLambda,
      absWorkingDir: root,
      outfile: file,
      outExtension: {},
      target: 'node20',
      stdin: { contents: client, resolveDir: root, loader: 'ts' },
    });
    ({ answered, found } = (await import(pathToFileURL(file).href)) as {
      answered: typeof answered;
      found: typeof found;
    });
  });
  afterAll(() => rm(directory, { recursive: true }));

  const dynamodb = (name: string, rest: object = {}): object => ({
    __type: `com.amazonaws.dynamodb.v20120810#${name}`,
    message: 'why',
    ...rest,
  });

  it('throws errors that have more than a message as the SDK does', async () => {
    const cancelled = await answered(
      400,
      dynamodb('TransactionCanceledException', { CancellationReasons: [{ Code: 'ConditionalCheckFailed' }] }),
    );
    expect(cancelled).toMatchObject({ name: 'TransactionCanceledException', isOfItsClass: true, status: 400 });
    expect(cancelled.reasons).toEqual([{ Code: 'ConditionalCheckFailed' }]);
  });

  it('throws all others with their names and messages', async () => {
    const thrown = await answered(400, dynamodb('ResourceNotFoundException'));
    expect(thrown).toMatchObject({ name: 'ResourceNotFoundException', message: 'why', status: 400 });
    expect(thrown.isRetryable).toBe(false);
    const xml = '<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>why</Message></Error>';
    expect(await found(404, xml)).toMatchObject({ name: 'NoSuchKey', message: 'why', status: 404 });
  });

  it('retries those that it retries because of their class', async () => {
    expect(await answered(400, dynamodb('ReplicatedWriteConflictException'))).toMatchObject({ isRetryable: true });
  });
});

/** Sends a request whose response is given, and returns the error. */
const client = `
  import { DynamoDBClient, GetItemCommand, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
  import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';

  const settings = (statusCode, text, headers) => ({
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
    requestHandler: {
      handle: async () => ({ response: { statusCode, headers, body: new Blob([text]).stream() } }),
    },
  });
  const described = (error) => ({
    name: error.name,
    message: error.message,
    isOfItsClass: error instanceof TransactionCanceledException,
    isRetryable: error.$retryable !== undefined,
    status: error.$metadata?.httpStatusCode,
    reasons: error.CancellationReasons,
  });

  export const answered = (status, body) =>
    new DynamoDBClient(settings(status, JSON.stringify(body), { 'content-type': 'application/x-amz-json-1.0' }))
      .send(new GetItemCommand({ TableName: 't', Key: {} }))
      .catch(described);
  export const found = (status, body) =>
    new S3Client(settings(status, body, { 'content-type': 'application/xml' }))
      .send(new GetObjectCommand({ Bucket: 'b', Key: 'k' }))
      .catch(described);
`;

it('an error that sources name by its class is of that class in a bundle', () => {
  const named = sourcesWithSdk().flatMap((source) =>
    [...source.matchAll(/import \{([^}]*)\} from '@aws-sdk\/(client-[\w-]+)'/g)].flatMap(([, names, client]) =>
      [...names!.matchAll(/(?<!type )\b\w+(?:Exception|Fault)\b/g)].map(([name]) => ({ name, client: client! })),
    ),
  );
  expect(named.map(({ name }) => name)).toContain('TransactionCanceledException');
  for (const { name, client } of named) {
    const directory = join(root, 'node_modules/@aws-sdk', client, 'dist-es');
    const schemas = withoutPlainErrors(
      readFileSync(join(directory, 'schemas/schemas_0.js'), 'utf8'),
      readFileSync(join(directory, 'models/errors.js'), 'utf8'),
    );
    expect(schemas, `${name}, which lean-sdk leaves out: compare its name`).toContain(
      `registerError(${name}$, ${name})`,
    );
  }
});

function sourcesWithSdk(): string[] {
  return ['shared/adapters', 'functions/cloud'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(root, folder, file), 'utf8')),
  );
}
