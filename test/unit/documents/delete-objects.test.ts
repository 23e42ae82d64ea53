import { describe, expect, it } from 'vitest';
import { deleteObjects, deleteParsing, readDelete } from '../../../functions/bucket/delete-objects.ts';
import { deleteResult } from '../../../shared/documents/delete-objects.ts';
import { EventLoopBudget } from '../../../shared/ports/event-loop.ts';
import { parsedXml, parseXml } from '../../../shared/xml/reader.ts';
import { bodyReader } from './document-readers.ts';
import { golden, namespace } from '../xml/golden.ts';
import { expectLinear } from '../../support/runs/growth.ts';

const read = (inner: string) => bodyReader(deleteObjects)(`<Delete xmlns="${namespace}">${inner}</Delete>`);
const unconditional = { versionId: undefined, etag: undefined, lastModified: undefined, size: undefined };

describe('Delete', () => {
  it('names keys, versions and conditions', async () => {
    expect(
      await read(
        '<Object><Key> a&amp;b </Key></Object><Quiet>true</Quiet>' +
          '<Object><Key>c</Key><VersionId>v1</VersionId><ETag>"e"</ETag>' +
          '<LastModifiedTime>Fri, 20 Nov 2026 10:00:00 GMT</LastModifiedTime><Size>0</Size></Object>' +
          '<Object><Key>c</Key><VersionId/><LastModifiedTime>2026-11-20T10:00:00Z</LastModifiedTime></Object>',
      ),
    ).toEqual({
      quiet: true,
      objects: [
        { ...unconditional, key: ' a&b ' },
        { key: 'c', versionId: 'v1', etag: '"e"', lastModified: Date.UTC(2026, 10, 20, 10), size: 0 },
        { ...unconditional, key: 'c', lastModified: Date.UTC(2026, 10, 20, 10) },
      ],
    });
  });

  it.each([
    ['\u0001\u001f', '\u0001\u001f'],
    ['&#1;&#x1;&#0031;&#x001F;', '\u0001\u0001\u001f\u001f'],
    ['&#9;&#10;&#13;\t\n\u007f\u0085', '\t\n\r\t\n\u007f\u0085'],
    ['&#x1F600;&#x20;&amp;#1;', '😀 &#1;'],
    ['\ufdd1', '\ufdd1'],
    ['<![CDATA[&#1;]]>', '&#1;'],
    ['<![CDATA[\u0001]]>', '\u0001'],
  ])('takes the control characters of keys, as they are and as references: %j', async (xml, key) => {
    expect((await read(`<Object><Key>${xml}</Key></Object>`)).objects).toEqual([{ ...unconditional, key }]);
  });

  it('takes 1,000 objects and is not quiet by itself', async () => {
    const { objects, quiet } = await read('<Object><Key>k</Key></Object>'.repeat(1000));
    expect(objects).toHaveLength(1000);
    expect(quiet).toBe(false);
  });

  it.each([
    ['no objects', ''],
    ['only Quiet', '<Quiet>true</Quiet>'],
    ['1,001 objects', '<Object><Key>k</Key></Object>'.repeat(1001)],
    ['no key', '<Object><VersionId>v</VersionId></Object>'],
    ['empty key', '<Object><Key/></Object>'],
    ['two keys', '<Object><Key>a</Key><Key>b</Key></Object>'],
    ['two version ids', '<Object><Key>a</Key><VersionId>1</VersionId><VersionId>2</VersionId></Object>'],
    ['Quiet twice', '<Quiet>true</Quiet><Quiet>false</Quiet><Object><Key>a</Key></Object>'],
    ['Quiet is no truth value', '<Quiet>maybe</Quiet><Object><Key>a</Key></Object>'],
    ['unknown element', '<Object><Key>a</Key></Object><Other/>'],
    ['unknown element in an object', '<Object><Key>a</Key><Other/></Object>'],
    ['key with elements', '<Object><Key><b/></Key></Object>'],
    ['negative size', '<Object><Key>a</Key><Size>-1</Size></Object>'],
    ['NaN size', '<Object><Key>a</Key><Size>NaN</Size></Object>'],
    ['overflowing size', `<Object><Key>a</Key><Size>${'9'.repeat(30)}</Size></Object>`],
    ['unreadable time', '<Object><Key>a</Key><LastModifiedTime>yesterday</LastModifiedTime></Object>'],
    ['reference that is none', '<Object><Key>&#X1;</Key></Object>'],
    ['NUL', '<Object><Key>a\0</Key></Object>'],
    ['reference to NUL', '<Object><Key>a&#0;</Key></Object>'],
    ['control character between elements', '<Object>\u0001<Key>a</Key></Object>'],
    ['control characters beside what stands for them', '<Object><Key>\u0001\ufdd1</Key></Object>'],
  ])('%s → MalformedXML', async (_, inner) => {
    await expect(read(inner)).rejects.toMatchObject({ name: 'S3Error', code: 'MalformedXML' });
  });

  it('is read in linear time', () => {
    expectLinear(60, (size) => {
      const objects = Array.from(
        { length: size },
        (_, index) => `<Object><Key>a/key/of/usual/length/${index}</Key></Object>`,
      );
      parsedXml(Buffer.from(`<Delete>${objects.join('')}</Delete>`), deleteParsing);
    });
  });

  it('is the same wherever a piece of it ends', async () => {
    for (const mark of ['&#1;', '&#x0000001;', '\u0001', '😀', '&amp;', '<!-- - -->', '\r\n']) {
      for (let before = 4060; before < 4080; before += 1) {
        const key = `<Object><Key>${'k'.repeat(before)}${mark}${'k'.repeat(100)}</Key></Object>`;
        const bytes = Buffer.from(`<Delete>${key}</Delete>`);
        const inTurns = await parseXml(bytes, new EventLoopBudget(), deleteParsing);
        const { objects } = await readDelete(inTurns, 1000, new EventLoopBudget());
        const meant = { '&#1;': '\u0001', '&#x0000001;': '\u0001', '&amp;': '&', '<!-- - -->': '', '\r\n': '\n' };
        expect(objects[0]!.key).toBe(
          'k'.repeat(before) + ((meant as Record<string, string>)[mark] ?? mark) + 'k'.repeat(100),
        );
      }
    }
  });
});

describe('DeleteResult', () => {
  const outcomes = [
    { key: 'plain' },
    { key: 'version', versionId: 'v1' },
    { key: 'marked', isDeleteMarker: true, deleteMarkerVersionId: 'm1' },
    { key: 'denied', versionId: 'v2', code: 'AccessDenied', message: 'Access <Denied>' },
    { key: 'marker', versionId: 'm0', isDeleteMarker: true, deleteMarkerVersionId: 'm0' },
  ];

  it('answers in the order of the request', () => {
    expect(deleteResult.write(outcomes, namespace)).toBe(golden`
      <DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Deleted><Key>plain</Key></Deleted>
        <Deleted><Key>version</Key><VersionId>v1</VersionId></Deleted>
        <Deleted><Key>marked</Key><DeleteMarker>true</DeleteMarker><DeleteMarkerVersionId>m1</DeleteMarkerVersionId></Deleted>
        <Error><Key>denied</Key><VersionId>v2</VersionId><Code>AccessDenied</Code><Message>Access &lt;Denied&gt;</Message></Error>
        <Deleted><Key>marker</Key><VersionId>m0</VersionId><DeleteMarker>true</DeleteMarker><DeleteMarkerVersionId>m0</DeleteMarkerVersionId></Deleted>
      </DeleteResult>`);
  });

  it('may be empty', () => {
    expect(deleteResult.write([], namespace)).toBe(
      golden`<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>`,
    );
  });
});
