import { resolveTarget, type Target } from '../../shared/http/address.ts';
import { Fields, type RequestMessage } from '../../shared/http/message.ts';
import { readAuthorizationHeader } from '../../shared/signing/v4/authorization-header.ts';
import { refuseUnsignedHeaders, type SignatureClaim } from '../../shared/signing/claim.ts';
import { readPresignedQuery } from '../../shared/signing/v4/presigned.ts';
import { readV2Header } from '../../shared/signing/v2/sigv2-claim.ts';
import { verifyV2Signature } from '../../shared/signing/v2/sigv2.ts';
import { verifySignature } from '../../shared/signing/v4/sigv4.ts';
import type { RawRequest } from '../support/clients/raw-client.ts';
import { presigned, signed } from '../support/clients/signer.ts';
import { signedV2 } from '../support/clients/signer-v2.ts';

const key = { accessKeyId: 'AKBENCH', secretAccessKey: 'bench-secret-key' };
const host = '127.0.0.1:9000';
const names = { domain: 'localhost', websiteDomain: 'website.localhost' };
const upload = {
  method: 'PUT',
  path: '/bench/small/1234',
  headers: { 'content-type': 'text/plain', 'x-amz-meta-a': 'b' },
};
const listing = { path: '/bench', query: 'list-type=2&max-keys=1000&prefix=small%2F' };
const longListing = {
  path: '/bench',
  query:
    'continuation-token=bGFzdCBwYWdl&delimiter=%2F&encoding-type=url&fetch-owner=true&list-type=2&max-keys=1000' +
    '&prefix=photos%2F2026%2F&start-after=photos%2F2026%2Fa%20b',
};

const timing = () => ({ now: Date.now(), allowedSkew: 900_000, longestLifetime: 604_800_000 });

function verifyV4(request: RequestMessage): void {
  const target = targetOf(request);
  verifyClaim(request, target, readAuthorizationHeader(request.fields, timing()));
}

function verifyPresigned(request: RequestMessage): void {
  const target = targetOf(request);
  verifyClaim(request, target, readPresignedQuery(target.query, request.fields, timing()));
}

function verifyClaim(request: RequestMessage, target: Target, claim: SignatureClaim): void {
  refuseUnsignedHeaders(claim, request.fields);
  verifySignature(request, target, claim, key.secretAccessKey);
}

function verifyV2(request: RequestMessage): void {
  verifyV2Signature(request, targetOf(request), readV2Header(request.fields, timing()), key.secretAccessKey);
}

const works: readonly (readonly [string, RawRequest, (request: RequestMessage) => void])[] = [
  ['V4, an upload', signed(host, upload, { key }), verifyV4],
  ['V4, a listing', signed(host, listing, { key }), verifyV4],
  ['V4, eight parameters', signed(host, longListing, { key }), verifyV4],
  ['V4, a presigned URL', presigned(host, { path: '/bench/small/1234' }, { key }), verifyPresigned],
  ['V2, an upload', signedV2(host, upload, { key }), verifyV2],
];

/** Measures the processor time of verifying a signature with a cached key: everything from a parsed target to an authenticated user. */
export function benchSignatures(): void {
  for (const [name, { method, target, headers }, verify] of works) {
    const fields = new Fields(headers);
    const request = { method, target, fields, secure: false, remoteAddress: '' } as RequestMessage;
    console.log(`${name.padEnd(24)}${microseconds(() => verify(request)).toFixed(1)} µs`);
  }
}

function targetOf({ target }: RequestMessage): Target {
  return resolveTarget(target, host, names);
}

/** Processor time of one call, once the compiler knows it: the median of some rounds. */
function microseconds(call: () => void): number {
  const count = 10_000;
  const rounds = Array.from({ length: 12 }, () => {
    const before = process.cpuUsage();
    for (let at = 0; at < count; at++) call();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / count;
  });
  return rounds.slice(3).sort((a, b) => a - b)[4]!;
}
