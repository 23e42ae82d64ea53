import type { RawResponse } from './raw-client.ts';
import type { Key, Signing, Unsigned } from './signer.ts';

/** A key, with its token if it is temporary. */
export interface AnyKey extends Key {
  readonly sessionToken?: string | undefined;
}

/** Returns the request of LookupEvents that SDKs send. @param body its JSON, or what is sent in its place */
export function lookup(body: object | string = {}, sessionToken?: string): Unsigned {
  return {
    ...{ method: 'POST', path: '/', service: 'cloudtrail' },
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.LookupEvents',
      ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

/** An event that was found. */
export interface FoundEvent {
  readonly EventId: string;
  readonly EventName: string;
  readonly EventTime: number;
  readonly Username?: string;
  readonly AccessKeyId?: string;
  readonly Resources: readonly object[];
  readonly CloudTrailEvent: string;
}

/** What LookupEvents answers. */
export interface Found {
  readonly Events: readonly FoundEvent[];
  readonly NextToken?: string;
}

/** Sends requests to a service. */
interface Sender {
  send(request: Unsigned, signing?: Partial<Signing>): Promise<RawResponse>;
}

/** Returns what is found, or `[status, error]`. */
export async function lookUp(
  service: Sender,
  { accessKeyId, secretAccessKey, sessionToken }: AnyKey,
  body: object | string = {},
): Promise<Found | readonly [number, string]> {
  const { status, text } = await service.send(lookup(body, sessionToken), { key: { accessKeyId, secretAccessKey } });
  const answer = JSON.parse(text) as Found & { readonly __type?: string };
  return status === 200 ? answer : [status, answer.__type ?? ''];
}

/** Returns what is found. @throws Error if it is refused */
export async function found(service: Sender, key: AnyKey, body: object = {}): Promise<Found> {
  const answer = await lookUp(service, key, body);
  if (!('Events' in answer)) throw new Error(answer.join(' '));
  return answer;
}
