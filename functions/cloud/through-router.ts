import { S3Error } from '../../shared/errors/s3-error.ts';
import { Fields, type RequestMessage, type ResponseMessage } from '../../shared/http/message.ts';
import { keptHeaders, viewerProtocolHeader } from '../../shared/protocol/kept-headers.ts';
import { errorDocument } from '../../shared/xml/error.ts';
import type { OriginSecret } from './origin-secret.ts';

const protocolField = viewerProtocolHeader.toLowerCase();

/** A request as the client sent it, before the router rewrote it. */
export type Originals = Pick<RequestMessage, 'target' | 'fields' | 'remoteAddress' | 'secure'>;

/**
 * Returns the original request that the router kept; undefined if it did not come through the distribution.
 *
 * @param received the fields that arrived
 * @throws Error if it came through the distribution, but the router kept nothing
 */
export async function originalsOf(received: Fields, edge: OriginSecret): Promise<Originals | undefined> {
  if (!(await edge.holds(received.get(keptHeaders.proof)))) return undefined;
  return {
    target: kept(received, keptHeaders.target),
    fields: new Fields(original(received)),
    remoteAddress: kept(received, keptHeaders.address),
    // Without the field, only TLS is possible.
    secure: (received.get(protocolField) ?? 'https') === 'https',
  };
}

function kept(fields: Fields, name: string): string {
  const value = fields.get(name);
  if (value === undefined) throw new Error(`the router did not keep ${name}`);
  return value;
}

const keptNames: ReadonlySet<string> = new Set([...Object.values(keptHeaders), protocolField]);

/** Returns the header fields as the client sent them. */
function* original(received: Fields): Generator<readonly [string, string]> {
  const restored = [
    ['host', kept(received, keptHeaders.host)],
    ['authorization', received.get(keptHeaders.authorization)],
    ['content-length', received.get(keptHeaders.length)],
  ] as const;
  // A proxy may have added the length of a body that the client sent without one.
  const replaced = new Set<string>(['host', 'authorization', 'content-length']);
  for (const [name, value] of received) if (!keptNames.has(name) && !replaced.has(name)) yield [name, value];
  for (const [name, value] of restored) if (value !== undefined) yield [name, value];
}

/**
 * Returns the response to a request that did not come through the distribution. It cannot be authenticated, as only the router
 * knows what the client signed.
 */
export function refusalOfOthers(requestId: string): ResponseMessage {
  const refusal = new S3Error('AccessDenied');
  return {
    status: refusal.status,
    fields: new Fields([
      ['x-amz-request-id', requestId],
      ['content-type', 'application/xml'],
    ]),
    body: errorDocument(refusal, { requestId, hostId: '' }),
  };
}
