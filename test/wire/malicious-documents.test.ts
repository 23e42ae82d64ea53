import { beforeAll, describe, expect, it } from 'vitest';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { put, read } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { TestUpload } from '../support/storage/uploads.ts';

/** Documents that attack their reader, and documents that are merely wrong. */

const service = serviceUnderTest();
const declaration = '<?xml version="1.0" encoding="UTF-8"?>';

let bucket: string;
let upload: TestUpload;
beforeAll(async () => {
  bucket = await service.lastingBucket();
  upload = await TestUpload.begin(service.client, bucket, 'upload');
  await upload.part(1, 'x');
  await put(service.client, bucket, 'key', 'content');
});

/** Where documents go, a right one for each, and how it may be wrapped. */
const places = {
  PutBucketVersioning: () => ({
    request: { method: 'PUT', path: `/${bucket}`, query: 'versioning' },
    root: 'VersioningConfiguration',
    inner: '<Status>Suspended</Status>',
  }),
  DeleteObjects: () => ({
    request: { method: 'POST', path: `/${bucket}`, query: 'delete' },
    root: 'Delete',
    inner: '<Object><Key>missing</Key></Object>',
  }),
  CompleteMultipartUpload: () => ({
    request: { method: 'POST', path: `/${bucket}/upload`, query: `uploadId=${upload.id}` },
    root: 'CompleteMultipartUpload',
    inner: '<Part><PartNumber>1</PartNumber><ETag>9dd4e461268c8034f5c8564e155c67a6</ETag></Part>',
  }),
  CreateBucket: () => ({
    request: { method: 'PUT', path: `/${bucket}`, query: '' },
    root: 'CreateBucketConfiguration',
    inner: '<LocationConstraint>EU</LocationConstraint>',
  }),
  PutObjectTagging: () => ({
    request: { method: 'PUT', path: `/${bucket}/key`, query: 'tagging' },
    root: 'Tagging',
    inner: '<TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet>',
  }),
};

const names = Object.keys(places) as (keyof typeof places)[];

/** Modifications of a valid document. */
const faults: [name: string, change: (root: string, inner: string) => string | Buffer][] = [
  ['nothing at all but blanks', () => '   '],
  ['text', () => 'nonsense'],
  ['JSON', () => '{"Status":"Enabled"}'],
  ['an open element', (root, inner) => `<${root}>${inner}`],
  ['elements that cross', (root) => `<${root}><a><b></a></b></${root}>`],
  ['two roots', (root, inner) => `<${root}>${inner}</${root}><${root}>${inner}</${root}>`],
  ['text behind the root', (root, inner) => `<${root}>${inner}</${root}>more`],
  ['another root', (_, inner) => `<Other>${inner}</Other>`],
  ['a root in lower case', (root, inner) => `<${root.toLowerCase()}>${inner}</${root.toLowerCase()}>`],
  ['an unknown element', (root, inner) => `<${root}>${inner}<Unknown/></${root}>`],
  ['text between elements', (root, inner) => `<${root}>text${inner}</${root}>`],
  ['an unknown entity', (root, inner) => `<${root}>${inner}<a>&unknown;</a></${root}>`],
  ['a document type', (root, inner) => `<!DOCTYPE ${root}><${root}>${inner}</${root}>`],
  [
    'billions of laughs',
    (root, inner) => {
      const entities = Array.from({ length: 20 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join('');
      return `${declaration}<!DOCTYPE ${root} [<!ENTITY l0 "lol">${entities}]><${root}>${inner}<a>&l20;</a></${root}>`;
    },
  ],
  [
    'an entity from a file',
    (root, inner) =>
      `${declaration}<!DOCTYPE ${root} [<!ENTITY x SYSTEM "file:///etc/passwd">]><${root}>${inner}<a>&x;</a></${root}>`,
  ],
  [
    'an entity from the network',
    (root, inner) => `<!DOCTYPE ${root} SYSTEM "http://127.0.0.1:1/x.dtd"><${root}>${inner}</${root}>`,
  ],
  ['a processing instruction', (root, inner) => `<?xml-stylesheet href="x"?><${root}>${inner}</${root}>`],
  ['a hundred levels', (root, inner) => `<${root}>${inner}${'<a>'.repeat(100)}${'</a>'.repeat(100)}</${root}>`],
  ['many attributes', (root, inner) => `<${root} ${attributes(30_000)}>${inner}</${root}>`],
  ['UTF-16', (root, inner) => Buffer.from(`\ufeff<${root}>${inner}</${root}>`, 'utf16le')],
  ['another encoding', (root, inner) => `<?xml version="1.0" encoding="ISO-8859-1"?><${root}>${inner}</${root}>`],
  ['bytes that are no UTF-8', (root, inner) => Buffer.from(`<${root}>${inner}<a>\xff</a></${root}>`, 'latin1')],
  ['NUL', (root, inner) => `<${root}>${inner}<a>\0</a></${root}>`],
  ['a control character', (root, inner) => `<${root}>${inner}<a>&#1;</a></${root}>`],
];

function attributes(count: number): string {
  return Array.from({ length: count }, (_, n) => `a${n}="x"`).join(' ');
}

describe.each(names)('a document of %s', (name) => {
  it.each(faults)('is refused, and quickly, if it is %s', async (_, change) => {
    const { request, root, inner } = places[name]();
    const started = Date.now();
    const response = await service.send({ ...request, body: change(root, inner) });
    expectError(response, 400, 'MalformedXML');
    expect(Date.now() - started).toBeLessThan(5000);
    expect(response.text).not.toContain('root:');
  });
});

describe.each(names.filter((name) => name !== 'CompleteMultipartUpload'))('a right document of %s', (name) => {
  it.each([
    ['without a namespace', (root: string, inner: string) => `<${root}>${inner}</${root}>`],
    [
      'with that of S3',
      (root: string, inner: string) =>
        `${declaration}\n<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inner}</${root}>`,
    ],
    ['with any other', (root: string, inner: string) => `<${root} xmlns="urn:other">${inner}</${root}>`],
    [
      'with a prefix',
      (root: string, inner: string) =>
        `<p:${root} xmlns:p="urn:p">${inner.replace(/<(\/?)(\w)/g, '<$1p:$2')}</p:${root}>`,
    ],
    ['with a byte order mark', (root: string, inner: string) => `\ufeff<${root}>${inner}</${root}>`],
    [
      'with comments and blanks',
      (root: string, inner: string) => `<!-- c --><${root}> ${inner}\n<!-- c --> </${root}>`,
    ],
  ])('is taken %s', async (_, write) => {
    const { request, root, inner } = places[name]();
    const response = await service.send({ ...request, body: write(root, inner) });
    expect(response.status, response.text).toBe(200);
  });
});

describe('values of documents', () => {
  it.each(['NaN', '1e3', '0x1', '1.5', '', '99999999999999999999', '-1', 'one'])(
    'that shall be numbers are no others: "%s"',
    async (number) => {
      const body =
        `<CompleteMultipartUpload><Part><PartNumber>${number}</PartNumber>` +
        '<ETag>9dd4e461268c8034f5c8564e155c67a6</ETag></Part></CompleteMultipartUpload>';
      const { request } = places.CompleteMultipartUpload();
      const response = await service.send({ ...request, body });
      expect(response.status).toBe(400);
      expect(['MalformedXML', 'InvalidPart']).toContain(textOf(response.text, 'Code'));
      const size = `<Delete><Object><Key>key</Key><Size>${number}</Size></Object></Delete>`;
      expectError(await service.send({ ...places.DeleteObjects().request, body: size }), 400, 'MalformedXML');
    },
  );

  it.each([
    ['PutBucketVersioning', '<Status>Enabled</Status><Status>Suspended</Status>'],
    ['PutBucketVersioning', ''],
    ['PutBucketVersioning', '<Status/>'],
    ['PutBucketVersioning', '<Status> Enabled </Status>'],
    ['DeleteObjects', '<Object><Key>a</Key><Key>b</Key></Object>'],
    ['DeleteObjects', '<Object/>'],
    ['DeleteObjects', '<Object><Key/></Object>'],
    ['DeleteObjects', ''],
    ['DeleteObjects', '<Quiet>maybe</Quiet><Object><Key>a</Key></Object>'],
    ['DeleteObjects', '<Object><Key>a</Key><LastModifiedTime>yesterday</LastModifiedTime></Object>'],
    ['CompleteMultipartUpload', ''],
    ['CompleteMultipartUpload', '<Part><PartNumber>1</PartNumber></Part>'],
    ['CompleteMultipartUpload', '<Part><ETag>x</ETag></Part>'],
    ['CompleteMultipartUpload', '<Part><PartNumber>1</PartNumber><PartNumber>2</PartNumber><ETag>x</ETag></Part>'],
    ['PutObjectTagging', ''],
    ['PutObjectTagging', '<TagSet><Tag><Key>a</Key></Tag></TagSet>'],
    ['PutObjectTagging', '<TagSet><Tag><Key>a</Key><Value>b</Value><Value>c</Value></Tag></TagSet>'],
    ['CreateBucket', '<LocationConstraint>EU</LocationConstraint><LocationConstraint>US</LocationConstraint>'],
  ] as const)('are there once: %s of %j', async (name, inner) => {
    const { request, root } = places[name]();
    expectError(await service.send({ ...request, body: `<${root}>${inner}</${root}>` }), 400, 'MalformedXML');
  });
});

it('the service lives on, and nothing has happened', async () => {
  expect(await read(service.client, bucket, 'key')).toBe('content');
  const { text } = await service.send({ path: `/${bucket}/upload`, query: `uploadId=${upload.id}` });
  expect(text).toContain('<PartNumber>1</PartNumber>');
  expect((await service.sendUnsigned({ path: '/_stillage/health' })).status).toBe(200);
});
