import { Readable } from 'node:stream';
import { operations } from '../../../functions/operations.ts';
import { fullRights } from '../../../shared/access/identity-rights.ts';
import type { AccessKey, Project } from '../../../shared/access/identity.ts';
import { SdkEndpoint } from '../../../shared/adapters/targets/sdk-endpoint.ts';
import { randomKeyId, randomSecret } from '../../../shared/accounts/key-administration.ts';
import { Fields, type ResponseMessage } from '../../../shared/http/message.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import type { S3Endpoint } from '../../../shared/ports/s3-endpoint.ts';
import { Pipeline } from '../../../shared/protocol/pipeline.ts';
import type { Services } from '../../../shared/protocol/operation.ts';

const host = 'localhost';

/** A request of the SDK's client. */
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/**
 * Returns the service of this process as an S3, for what its operations check and render: settings of buckets, and objects as clients read
 * them. Requests go through the pipeline, as those of the owner of a project, with a key that nobody else has.
 */
export function localEndpoint(services: Services, project: Project, randomness: Randomness): S3Endpoint {
  const [accessKeyId, secretAccessKey] = [randomKeyId(randomness), randomSecret(randomness)];
  const key: AccessKey = {
    secret: secretAccessKey,
    user: {
      ...{ kind: 'user', id: accessKeyId, accessKeyId, name: 'operator', project },
      ...{ privileges: ['monitoring'], rights: fullRights },
    },
    suspended: false,
    unchanged: [],
  };
  let requests = 0;
  const pipeline = new Pipeline({
    ...{ services, operations, hostId: host, signing: {}, consoleOrigins: new Set() },
    accessKeys: { find: async (id) => (id === accessKeyId ? key : undefined) },
    telemetry: { request: () => undefined, problem: () => undefined, note: () => undefined },
    hostNames: { domain: host, websiteDomain: `website.${host}` },
    requestId: () => String((requests += 1)),
  });
  const handle = async ({ method, path, query = {}, headers, body }: Sent) => {
    const asked = Object.entries(query).map(([name, value]) => `${escaped(name)}=${escaped(String(value ?? ''))}`);
    const response = await pipeline.handle({
      ...{ method, target: asked.length === 0 ? path : `${path}?${asked.join('&')}` },
      fields: new Fields(Object.entries({ ...headers, host })),
      body: body === undefined ? undefined : bytesOf(body),
      ...{ secure: true, remoteAddress: '127.0.0.1' },
    });
    const fields = Object.fromEntries(response.fields);
    return { response: { statusCode: response.status, headers: fields, body: readableOf(response.body) } };
  };
  return new SdkEndpoint(
    'this service',
    { endpoint: `https://${host}`, region: services.settings.region },
    { credentials: { accessKeyId, secretAccessKey }, requestHandler: { handle } as never },
  );
}

/** As the SDK escapes for its signature. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

async function* bytesOf(body: unknown): AsyncGenerator<Uint8Array> {
  if (typeof body === 'string') yield Buffer.from(body);
  else if (body instanceof Uint8Array) yield body;
  else yield* body as AsyncIterable<Uint8Array>;
}

function readableOf(body: ResponseMessage['body']): Readable {
  if (body === undefined) return Readable.from([]);
  if (typeof body === 'string' || body instanceof Uint8Array) return Readable.from([Buffer.from(body)]);
  return Readable.from(body);
}
