import { parseAclHeaders } from '../../../shared/access/acl-headers.ts';
import { anonymous } from '../../../shared/access/identity.ts';
import { parseIdentityPolicy } from '../../../shared/access/identity-rights.ts';
import {
  boundTo,
  parsePolicy,
  parseTrustPolicy,
  PreparedPolicy,
  rulesFor,
} from '../../../shared/access/policies/policy.ts';
import { parseStrictJson } from '../../../shared/access/policies/strict-json.ts';
import { codePoints, matchesWildcards, PatternSet, readWildcards } from '../../../shared/access/policies/wildcard.ts';
import { resolveTarget } from '../../../shared/http/address.ts';
import { fileNameOf } from '../../../shared/http/fields/content-disposition.ts';
import { parseCopySource } from '../../../shared/http/fields/copy-source.ts';
import { parseHttpDate, parseIsoDate, parseTimestamp } from '../../../shared/http/fields/dates.ts';
import { Fields } from '../../../shared/http/message.ts';
import { evaluated, parseEntityTags, rangeApplies } from '../../../shared/http/fields/preconditions.ts';
import { parseCopySourceRange, parseRange } from '../../../shared/http/fields/range.ts';
import { ActionForm } from '../../../shared/protocol/query-api/action-form.ts';
import { readParameters } from '../../../shared/protocol/query-api/parameters.ts';
import { matchCors, matchesPattern, readCorsRequest } from '../../../shared/protocol/cors.ts';
import { openForm } from '../../../shared/protocol/bodies/form.ts';
import { defaultLimits, tagLimits } from '../../../shared/protocol/limits.ts';
import { readLockHeaders } from '../../../shared/protocol/objects/object-lock.ts';
import { readUploadHeaders, parseTaggingHeader } from '../../../shared/protocol/objects/upload-headers.ts';
import { findRule } from '../../../shared/protocol/website.ts';
import { parsePostPolicy } from '../../../shared/signing/post-policy.ts';
import { parseSignedHeaders } from '../../../shared/signing/claim.ts';
import { tags } from '../../../functions/iam/inputs.ts';
import { byTag, listing } from '../../../functions/iam/listings.ts';
import { limiting } from '../../../functions/sts/session-policies.ts';
import { readLifecycle } from '../../../functions/bucket/bucket-lifecycle.ts';
import { deleteParsing, readDelete } from '../../../functions/bucket/delete-objects.ts';
import { cors } from '../../../shared/documents/cors.ts';
import { documentType, unread } from '../../../shared/documents/schema.ts';
import { website } from '../../../shared/documents/website.ts';
import { parsedXml, readDocument } from '../../../shared/xml/reader.ts';
import { atOnce, EventLoopBudget } from '../../../shared/ports/event-loop.ts';
import { documentReaders } from '../../unit/documents/document-readers.ts';
import { IdentityProvider } from '../clients/identity-provider.ts';
import { formBody, formType } from '../clients/form.ts';

/** A reader of client input. */
export interface Reader {
  /** The exported functions that it covers, by which a test finds missing readers. */
  readonly covers: readonly string[];
  /** Pieces of which inputs are made: some with a meaning to the reader, and some without. */
  readonly pieces: readonly string[];
  /** The text before and after all of them. */
  readonly around?: readonly [before: string, behind: string];
  /** The length of the longest input in characters. Default: 8,192. */
  readonly most?: number;
  /** Reads an input. Exceptions are ignored. */
  read(text: string): unknown;
}

const field = (name: string, text: string): Fields => new Fields([[name, text]]);
const list = [' ', '\t', ',', '"', 'a', '*', '\\'];
const markup = ['<a>', '</a>', '<a/>', ' ', '&#1;', '&', '&amp;', '<!---->', '<![CDATA[x]]>', '\u0001', 'x', ' a="b"'];
const hostilePattern = '*a*aZ*b?a*Z*';
const denying = boundTo(
  parsePolicy(
    Buffer.from(
      JSON.stringify({
        Statement: {
          ...{ Effect: 'Deny', Principal: '*', Action: 's3:DeleteObject' },
          Resource: `arn:aws:s3:::bucket/${hostilePattern}`,
          Condition: { StringNotLike: { 'aws:UserAgent': [hostilePattern, '*aaaaZ*'] } },
        },
      }),
    ),
    'bucket',
  ),
  new Map(),
);
const budget = (): EventLoopBudget => new EventLoopBudget();

/** Every reader of client input, one row each. */
export const readers: Readonly<Record<string, Reader>> = {
  'request target': {
    covers: ['resolveTarget'],
    pieces: ['/', '.', '../..', '%2F', '%', '?', '&', '=', '+', 'a', '%C3', ';'],
    around: ['/bucket/', ''],
    most: 16_384,
    read: (text) => resolveTarget(text, 'example.test', { domain: 'example.test', websiteDomain: 'web.example.test' }),
  },
  Host: {
    covers: [],
    pieces: ['.', 'a', '-', ':', '1', '[', ']'],
    read: (text) => resolveTarget('/', text, { domain: 'example.test', websiteDomain: 'web.example.test' }),
  },
  'the form of an action': {
    covers: ['ActionForm'],
    pieces: ['Tags.member.', '.', '1', '&', '=', '%41', '+', 'a', '%'],
    most: 128 * 1024,
    read: (text) => ActionForm.parse(Buffer.from(text)),
  },
  'parameters of an action': {
    covers: ['readParameters'],
    pieces: [
      'Tags.member.1.Key=',
      'Tags.member.2',
      '.Value=',
      'PolicyArns.member.1.arn=',
      '&',
      'MaxItems=',
      'Marker=',
      'TGlzd',
      '1',
      'a',
    ],
    most: 128 * 1024,
    read: (text) =>
      readParameters(
        { ...limiting, ...listing('ListUserTags', byTag).parameters, Tags: tags },
        ActionForm.parse(Buffer.from(text)),
      ),
  },
  'token of an identity provider': {
    covers: ['verifiedIdentity'],
    pieces: ['.', 'eyJhbGciOiJFUzI1NiJ9', 'e30', 'A', '_', '=', '"'],
    around: ['eyJhbGciOiJFUzI1NiIsImtpZCI6Im9uZSJ9.', '.AAAA'],
    most: 20_000,
    read: (text) => new IdentityProvider().verify(text),
  },
  'claims of such a token': {
    covers: [],
    pieces: ['"a"', ',', '[', ']', '"azp":"shop"', '"amr":', '{}', '1', '\\u0041'],
    around: ['{"iss":"https://id.example.com","sub":"job","iat":1,"exp":9e9,"aud":["shop",', '"shop"]}'],
    most: 16_384,
    read: (text) => {
      const provider = new IdentityProvider();
      return provider.verify(provider.token(text));
    },
  },
  'keys of an identity provider': {
    covers: ['ProviderKeys'],
    pieces: ['{"kid":"one"},', '{"kty":"EC","kid":"one","alg":"ES256"},', '"kty":"oct"', ',', '[', '{', '}', '1'],
    around: ['{"keys":[', '{}]}'],
    most: 128 * 1024,
    read: (text) => {
      const provider = new IdentityProvider();
      provider.published = text;
      return provider.verify(provider.token(JSON.stringify(provider.claims())));
    },
  },
  'Content-Disposition': {
    covers: ['fileNameOf'],
    pieces: [';', 'filename=', 'filename*=', '"', '\\', ' ', "UTF-8''", '%41', 'a'],
    read: fileNameOf,
  },
  'x-amz-copy-source': {
    covers: ['parseCopySource'],
    pieces: ['/', '%2F', '%', '?versionId=', 'a', 'é', 'arn:aws:s3:::'],
    read: parseCopySource,
  },
  dates: {
    covers: ['parseHttpDate', 'parseIsoDate', 'parseTimestamp'],
    pieces: [' ', '1', '-', ':', 'T', 'Z', 'Sun', 'Nov', ',', '.', 'GMT'],
    read: (text) => [parseHttpDate, parseIsoDate, parseTimestamp].map((parse) => parse(text)),
  },
  'If-*': {
    covers: ['parseEntityTags'],
    pieces: [...list, 'W/', 'W/"a"'],
    read: (text) => [
      parseEntityTags(text),
      evaluated.ofRead.read(field('if-match', text)),
      evaluated.ofDelete.read(field('if-match', text)),
    ],
  },
  'If-Range': {
    covers: ['rangeApplies'],
    pieces: list,
    read: (text) => rangeApplies(text, { etag: 'a', lastModified: 0 }),
  },
  Range: {
    covers: ['parseRange', 'parseCopySourceRange'],
    pieces: ['1', '-', ',', ' ', '0', 'bytes='],
    around: ['bytes=', ''],
    read: (text) => [parseRange(text, 1e9), parseCopySourceRange(text)],
  },
  'ACL in header fields': {
    covers: ['parseAclHeaders'],
    pieces: ['id=', 'uri=', 'emailAddress=', 'id="a",', ...list],
    read: (text) => parseAclHeaders(field('x-amz-grant-read', text)),
  },
  'header fields of locks': {
    covers: ['readLockHeaders'],
    pieces: ['2026-11-26', 'T', '12:00:00', '.0', 'Z', '+', ...list],
    read: (text) =>
      readLockHeaders(
        new Fields([
          ['x-amz-object-lock-mode', 'GOVERNANCE'],
          ['x-amz-object-lock-retain-until-date', text],
        ]),
      ),
  },
  'header fields of uploads': {
    covers: ['readUploadHeaders'],
    pieces: ['aws-chunked', 'gzip', ...list],
    read: (text) => readUploadHeaders(field('content-encoding', text), defaultLimits),
  },
  'user metadata': {
    covers: [],
    pieces: [' ', 'a', 'é', '\t'],
    read: (text) => readUploadHeaders(field('x-amz-meta-a', text), defaultLimits),
  },
  'x-amz-tagging': {
    covers: ['parseTaggingHeader'],
    pieces: ['&', '=', 'a=b&', '%41', '+', '%', 'a'],
    read: (text) => parseTaggingHeader(text, tagLimits(defaultLimits, 'tagsPerObject')),
  },
  'cross-origin request': {
    covers: ['readCorsRequest', 'matchCors', 'matchesPattern'],
    pieces: ['a', ',', ' ', 'x-amz-', '*'],
    read: (text) => {
      const fields = new Fields([
        ['origin', text],
        ['access-control-request-headers', text],
      ]);
      const rule = { methods: ['GET'], origins: ['*a*', '*'], headers: ['*', 'a*b'] } as never;
      const request = readCorsRequest(fields, 'GET');
      return [matchesPattern('a*a', text), request && matchCors([rule], request)];
    },
  },
  'key of a website': {
    covers: ['findRule'],
    pieces: ['/', 'a', '%'],
    read: (text) =>
      findRule(
        [
          { prefix: 'a/a', redirect: {} },
          { prefix: '/', redirect: {} },
        ] as never,
        text,
      ),
  },
  wildcards: {
    covers: ['readWildcards', 'matchesWildcards', 'PatternSet'],
    pieces: ['a', 'aZ', '*', '?', 'b'],
    most: 6000,
    read: (text) => [
      matchesWildcards(readWildcards('*a*b?a*Z'), codePoints(text)),
      atOnce(new PatternSet([readWildcards('*a*aZ'), readWildcards('*?*?a')]).matching(codePoints(text))),
      readWildcards(text),
    ],
  },
  policy: {
    covers: ['parsePolicy'],
    pieces: ['{', '}', '[', ']', '"', ',', ':', ' ', '\\u0041', '"Statement":', '{},', '"a",', '1'],
    around: ['{"Version":"2012-10-17","Statement":[', ']}'],
    most: 20_000,
    read: (text) => parsePolicy(Buffer.from(text), 'bucket'),
  },
  'policy of a user': {
    covers: ['parseIdentityPolicy'],
    pieces: ['{', '}', '[', ']', '"', ',', ':', ' ', '\\u0041', '"Statement":', '{},', '"a",', '1'],
    around: ['{"Version":"2012-10-17","Statement":[', ']}'],
    most: 20_000,
    read: (text) => parseIdentityPolicy(text),
  },
  'trust policy of a role': {
    covers: ['parseTrustPolicy'],
    pieces: ['{', '}', '[', ']', '"', ',', ':', ' ', '\\u0041', '"Principal":', '{},', '"a",', '1'],
    around: ['{"Version":"2012-10-17","Statement":[', ']}'],
    most: 20_000,
    read: (text) => parseTrustPolicy(text),
  },
  'condition of a policy': {
    covers: ['PreparedPolicy'],
    pieces: ['a', 'aZ', 'b', '?', '*', ' '],
    most: 6000,
    read: (text) => {
      const policy = new PreparedPolicy(rulesFor(denying, anonymous, 'owner'), budget());
      return policy.verdict({ action: 'DeleteObject', resource: `bucket/${text}`, conditions: () => [text] });
    },
  },
  JSON: {
    covers: ['parseStrictJson'],
    pieces: ['{', '[', '"', '"a":1,', '1,', ' ', '\\', '0', '1', '.', 'e', '[],'],
    around: ['[', ']'],
    most: 20_000,
    read: (text) => parseStrictJson(Buffer.from(text), 20),
  },
  'policy of a form': {
    covers: ['parsePostPolicy'],
    pieces: ['["eq","$key","a"],', '{"a":"b"},', '"', '$', ' ', '\\'],
    around: ['{"expiration":"2030-01-01T00:00:00Z","conditions":[', ']}'],
    most: 20_000,
    read: (text) => parsePostPolicy(Buffer.from(text).toString('base64')),
  },
  'signed header names': {
    covers: ['parseSignedHeaders'],
    pieces: [';', 'a;', 'host', ' '],
    read: (text) => parseSignedHeaders(text, 'AuthorizationHeaderMalformed'),
  },
  form: {
    covers: ['openForm', 'readMultipartForm'],
    pieces: ['${filename}', ' ', '\t', 'a', '"', '\\', '\r\n', '--', '$'],
    most: 16_384,
    read: async (text) => {
      const file = { fileName: text.slice(0, text.length / 2).replace(/[\r\n]/g, ' '), content: 'x' };
      const body = formBody(
        [
          ['key', 'k'],
          ['x-amz-meta-a', text.slice(text.length / 2)],
        ],
        file,
      );
      const pieces = (async function* () {
        for (let at = 0; at < body.length; at += 1000) yield body.subarray(at, at + 1000);
      })();
      return (await openForm(formType, pieces, 20_480)).close();
    },
  },
  XML: {
    covers: ['readDocument', 'parsedXml', 'parseXml'],
    pieces: markup,
    around: ['<R>', '</R>'],
    most: 65_536,
    read: (text) => readDocument(parsedXml(text), documentType('R', unread)),
  },
  DeleteObjects: {
    covers: ['readDelete'],
    pieces: ['<Object><Key>a</Key></Object>', '<Object>', '<Key>', '<Quiet>true</Quiet>', ...markup],
    around: ['<Delete>', '</Delete>'],
    most: 65_536,
    read: (text) => readDelete(parsedXml(text, deleteParsing), 10_000, budget()),
  },
  'CORS rules': {
    covers: [],
    pieces: [
      '<CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule>',
      '<AllowedHeader>a*</AllowedHeader>',
      ...markup,
    ],
    around: ['<CORSConfiguration>', '</CORSConfiguration>'],
    most: 65_536,
    read: (text) => readDocument(text, cors),
  },
  website: {
    covers: [],
    pieces: ['<RoutingRule><Redirect><HostName>a</HostName></Redirect></RoutingRule>', ...markup],
    around: [
      '<WebsiteConfiguration><IndexDocument><Suffix>i</Suffix></IndexDocument><RoutingRules>',
      '</RoutingRules></WebsiteConfiguration>',
    ],
    most: 65_536,
    read: (text) => readDocument(text, website),
  },
  'lifecycle rules': {
    covers: ['readLifecycle', 'readList'],
    pieces: [
      '<Rule><Status>Enabled</Status><Filter/><Expiration><Days>1</Days></Expiration></Rule>',
      '<Rule><ID>a</ID></Rule>',
      ...markup,
    ],
    around: ['<LifecycleConfiguration>', '</LifecycleConfiguration>'],
    most: 65_536,
    read: (text) => readLifecycle(text, defaultLimits, budget()),
  },
};

/** Every document of requests, by its root element: filled with what its samples contain. */
export const documents: Readonly<Record<string, Reader>> = Object.fromEntries(
  Object.entries(documentReaders).map(([root, { samples, read }]) => {
    const contents = samples.map((sample) => sample.replace(/^<[^>]*>|<[^<]*>$/g, '')).filter((text) => text !== '');
    return [
      root,
      { covers: [], pieces: [...contents, ...markup], around: [`<${root}>`, `</${root}>`], most: 16_384, read },
    ];
  }),
);

/** Inputs of a size for a reader: each piece again and again, and each two of them by turns and one after the other. */
export function* inputsOf(
  { pieces, around: [before, behind] = ['', ''] }: Reader,
  size: number,
): Generator<[string, string]> {
  const filled = (piece: string, length: number): string => piece.repeat(Math.ceil(length / piece.length));
  for (const [at, first] of pieces.entries()) {
    yield [JSON.stringify(first), before + filled(first, size) + behind];
    yield [`${JSON.stringify(first)}, left open`, before + filled(first, size)];
    const second = pieces[(at + 1) % pieces.length]!;
    yield [`${JSON.stringify(first + second)} by turns`, before + filled(first + second, size) + behind];
    const third = pieces[(at + 3) % pieces.length]!;
    yield [
      `${JSON.stringify(first)}, then ${JSON.stringify(third)}`,
      before + filled(first, size / 2) + filled(third, size / 2) + behind,
    ];
  }
}
