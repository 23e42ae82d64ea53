import { resolveTarget } from '../../shared/http/address.ts';
import { Fields, type RequestMessage } from '../../shared/http/message.ts';
import { readAuthorizationHeader } from '../../shared/signing/authorization-header.ts';
import { refuseUnsignedHeaders } from '../../shared/signing/claim.ts';
import { readV2Header } from '../../shared/signing/sigv2-claim.ts';
import { verifyV2Signature } from '../../shared/signing/sigv2.ts';
import { verifySignature } from '../../shared/signing/sigv4.ts';
import type { RawRequest } from '../support/raw-client.ts';
import { signed } from '../support/signer.ts';
import { signedV2 } from '../support/signer-v2.ts';

/*
 * What the verification of a signature costs of the processor, for a key that was used before: everything between a
 * parsed target and a proven user.
 */

const key = { accessKeyId: 'AKBENCH', secretAccessKey: 'bench-secret-key' };
const host = '127.0.0.1:9000';
const names = { domain: 'localhost', websiteDomain: 'website.localhost' };
const upload = {
  method: 'PUT',
  path: '/bench/small/1234',
  headers: { 'content-type': 'text/plain', 'x-amz-meta-a': 'b' },
};
const listing = { path: '/bench', query: 'list-type=2&max-keys=1000&prefix=small%2F' };

function verifyV4(request: RequestMessage): void {
  const claim = readAuthorizationHeader(request.fields, Date.now());
  refuseUnsignedHeaders(claim, request.fields);
  verifySignature(request, targetOf(request), claim, key.secretAccessKey);
}

function verifyV2(request: RequestMessage): void {
  verifyV2Signature(request, targetOf(request), readV2Header(request.fields, Date.now()), key.secretAccessKey);
}

const works: readonly (readonly [string, RawRequest, (request: RequestMessage) => void])[] = [
  ['V4, an upload', signed(host, upload, { key }), verifyV4],
  ['V4, a listing', signed(host, listing, { key }), verifyV4],
  ['V2, an upload', signedV2(host, upload, { key }), verifyV2],
];
for (const [name, { method, target, headers }, verify] of works) {
  const request = { method, target, fields: new Fields(headers), secure: false, remoteAddress: '' } as RequestMessage;
  process.stdout.write(`${name.padEnd(24)}${microseconds(() => verify(request)).toFixed(1)} µs\n`);
}

function targetOf({ target }: RequestMessage) {
  return resolveTarget(target, host, names);
}

/** Processor time of one call, once the compiler knows it. */
function microseconds(call: () => void): number {
  const count = 40_000;
  for (let at = 0; at < count; at++) call();
  const before = process.cpuUsage();
  for (let at = 0; at < count; at++) call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}
