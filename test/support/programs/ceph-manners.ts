import type { IncomingMessage } from 'node:http';
import type { LyingProxy } from './lying-proxy.ts';

/** Settings of buckets that Ceph RGW 16.2 does not know. */
const unknown = /[?&](?:ownershipControls|encryption)(?:[=&]|$)/;
const listing =
  '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>false</IsTruncated></ListBucketResult>';

/**
 * Makes a proxy answer as Ceph RGW 16.2 does, where that is not what S3 answers: it takes a request for a setting that it does not know for a
 * listing or, with PUT, for the creation of the bucket that is there, knows no checksums, and does not encode the mark that ends a page.
 */
export function answerAsCeph(proxy: LyingProxy): void {
  proxy.refuse = (request, response) => {
    if (request.method !== 'PUT' || !isUnknown(request)) return false;
    request.resume().once('end', () => response.writeHead(200).end());
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
