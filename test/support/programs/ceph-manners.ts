import type { IncomingMessage } from 'node:http';
import type { LyingProxy } from './lying-proxy.ts';

/** Settings of buckets that Ceph RGW 16.2 does not know. */
const unknown = /[?&](?:ownershipControls|encryption)(?:[=&]|$)/;
const listing =
  '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>false</IsTruncated></ListBucketResult>';

const refusal =
  '<Error><Code>InvalidBucketState</Code><Message>the bucket was created without object lock</Message></Error>';

/**
 * Makes a proxy answer as Ceph RGW 16.2 does, where that is not what S3 answers: it takes a request for a setting that it does not know for a
 * listing or, with PUT, for the creation of the bucket that is there, gives no bucket object lock later,
 * knows no checksums, and does not encode the mark that ends a page.
 */
export function answerAsCeph(proxy: LyingProxy): void {
  proxy.refuse = (request, response) => {
    const isLater = /[?&]object-lock(?:[=&]|$)/.test(request.url!);
    if (request.method !== 'PUT' || !(isUnknown(request) || isLater)) return false;
    request
      .resume()
      .once('end', () => (isLater ? response.writeHead(409).end(refusal) : response.writeHead(200).end()));
    return true;
  };
  proxy.lie = (request, told) => {
    const headers = Object.fromEntries(
      Object.entries(told.headers).filter(([name]) => !name.startsWith('x-amz-checksum-')),
    );
    if (request.method === 'GET' && isUnknown(request)) {
      return { status: 200, headers: { 'content-type': 'application/xml' }, body: Buffer.from(listing), isWhole: true };
    }
    if (request.method !== 'GET' || !request.url!.includes('versions')) return { ...told, headers };
    const text = told.body.toString().replace(/(?<=<NextKeyMarker>)[^<]*/, (key) => decodeURIComponent(key));
    return { ...told, headers, body: Buffer.from(text), isWhole: true };
  };
}

function isUnknown({ url = '' }: IncomingMessage): boolean {
  return unknown.test(url);
}
