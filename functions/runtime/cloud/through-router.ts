import { S3Error } from '../../../shared/errors/s3-error.ts';
import { Fields, type RequestMessage, type ResponseMessage } from '../../../shared/http/message.ts';
import { keptHeaders, viewerProtocolHeader } from '../../../shared/protocol/kept-headers.ts';
import { errorDocument } from '../../../shared/xml/error.ts';
import type { OriginSecret } from './origin-secret.ts';

const protocolField = viewerProtocolHeader.toLowerCase();

/** What a client sent, of which another request arrived. */
export type Originals = Pick<RequestMessage, 'target' | 'fields' | 'remoteAddress' | 'secure'>;

/**
 * The originals of a request, as the router kept them; undefined if it did not come through the distribution.
 *
 * @param received what arrived
 * @throws Error if the distribution proved itself and the router kept nothing
 */
export async function originalsOf(received: Fields, edge: OriginSecret): Promise<Originals | undefined> {
  if (!(await edge.holds(received.get(keptHeaders.proof)))) return undefined;
  return {
    target: kept(received, keptHeaders.target),
    fields: new Fields(original(received)),
    remoteAddress: kept(received, keptHeaders.address),
    // Where it is not told, there is nothing but TLS.
    secure: (received.get(protocolField) ?? 'https') === 'https',
  };
}

function kept(fields: Fields, name: string): string {
  const value = fields.get(name);
  if (value === undefined) throw new Error(`the router did not keep ${name}`);
  return value;
}

const keptNames: ReadonlySet<string> = new Set([...Object.values(keptHeaders), protocolField]);

/** The fields that the client sent, as it sent them. */
function* original(received: Fields): Generator<readonly [string, string]> {
  const restored = [
    ['host', kept(received, keptHeaders.host)],
    ['authorization', received.get(keptHeaders.authorization)],
    ['content-length', received.get(keptHeaders.length)],
  ] as const;
  // A length that the client did not give may have been found out on the way.
  const replaced = new Set<string>(['host', 'authorization', 'content-length']);
  for (const [name, value] of received) if (!keptNames.has(name) && !replaced.has(name)) yield [name, value];
  for (const [name, value] of restored) if (value !== undefined) yield [name, value];
}

/**
 * The answer to whoever passes the distribution by. It says no more than that, since such a request has nothing to be judged
 * by: what the client signed is known to the router alone.
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
