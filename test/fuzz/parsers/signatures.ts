import { canonicalUri, canonicalQuery } from '../../../shared/signing/v4/canonical-request.ts';
import { Fields } from '../../../shared/http/message.ts';
import { Query } from '../../../shared/http/query.ts';
import { readAuthorizationHeader } from '../../../shared/signing/v4/authorization-header.ts';
import { readFormClaim } from '../../../shared/signing/form-claim.ts';
import { parsePayloadHash } from '../../../shared/signing/v4/payload-hash.ts';
import { readPresignedQuery } from '../../../shared/signing/v4/presigned.ts';
import { readV2Header, readV2Query } from '../../../shared/signing/v2/sigv2-claim.ts';
import { type Parser, outcomesOf } from './parser.ts';

const now = Date.UTC(2026, 0, 23, 10, 11, 12);
const timing = { now, allowedSkew: 900_000, longestLifetime: 604_800_000 };
const hex = 'a'.repeat(64);
const scope = 'AKALICE/20260123/us-east-1/s3/aws4_request';

const fieldsOf = (text: string): Fields =>
  new Fields(
    text.split('\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, Math.max(0, colon)), line.slice(colon + 1)] as const;
    }),
  );

/** The parsers of credentials and signatures. */
export const signatures: Readonly<Record<string, Parser>> = {
  'Authorization header': {
    pieces: [
      'AWS4-HMAC-SHA256 ',
      'Credential=',
      scope,
      ', ',
      'SignedHeaders=',
      'host;x-amz-date',
      'Signature=',
      hex,
      '/',
      ';',
      '20260123',
      'SVC4-HMAC-SHA256 ',
      'AWS ',
      'AKALICE:c2ln',
    ],
    around: [`AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, `, `Signature=${hex}`],
    read: (text) => {
      const fields = new Fields([
        ['authorization', text],
        ['x-amz-date', '20260123T101112Z'],
        ['host', 'a'],
      ]);
      return outcomesOf([() => readAuthorizationHeader(fields, timing), () => readV2Header(fields, timing)]);
    },
  },
  'times of signatures': {
    pieces: [
      'x-amz-date:',
      'date:',
      '20260123T101112Z',
      '\n',
      'Fri, 23 Jan 2026 10:11:12 GMT',
      '1',
      'T',
      'Z',
      'authorization:',
      'AWS AKALICE:c2ln',
    ],
    read: (text) => {
      const v4 = new Fields([
        ['authorization', `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=${hex}`],
        ...fieldsOf(text),
      ]);
      return outcomesOf([() => readAuthorizationHeader(v4, timing), () => readV2Header(fieldsOf(text), timing)]);
    },
  },
  'presigned query': {
    pieces: [
      'X-Amz-Algorithm=AWS4-HMAC-SHA256',
      '&',
      `X-Amz-Credential=${encodeURIComponent(scope)}`,
      'X-Amz-Date=20260123T101112Z',
      'X-Amz-Expires=',
      '60',
      'X-Amz-SignedHeaders=host',
      `X-Amz-Signature=${hex}`,
      'AWSAccessKeyId=a',
      'Expires=1769166672',
      'Signature=c2ln',
      '%2F',
      '+',
    ],
    around: [
      `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${encodeURIComponent(scope)}&X-Amz-Date=20260123T101112Z&`,
      `&X-Amz-SignedHeaders=host&X-Amz-Signature=${hex}`,
    ],
    read: (text) => {
      const query = Query.parse(text);
      const fields = new Fields([['host', 'a']]);
      return outcomesOf([
        () => readPresignedQuery(query, fields, timing),
        () => readV2Query(query, timing),
        () => canonicalQuery(query.parameters, '%20'),
      ]);
    },
  },
  'claim of a form': {
    pieces: [
      'policy:',
      'eyJ9',
      '\n',
      'x-amz-algorithm:',
      'AWS4-HMAC-SHA256',
      'x-amz-credential:',
      scope,
      'x-amz-date:20260123T101112Z',
      'x-amz-signature:',
      hex,
      'signature:c2ln',
      'awsaccesskeyid:a',
    ],
    read: (text) => readFormClaim(fieldsOf(text)),
  },
  'x-amz-content-sha256': {
    pieces: [hex, 'UNSIGNED-PAYLOAD', 'STREAMING-', 'AWS4-HMAC-SHA256-PAYLOAD', '-TRAILER', 'UNSIGNED'],
    read: (text) => parsePayloadHash(text, undefined),
  },
  'canonical path': {
    pieces: ['/', '%2F', '%', '.', '..', 'a', 'é', '%C3%A9', '+', ' '],
    around: ['/', ''],
    read: canonicalUri,
  },
};
