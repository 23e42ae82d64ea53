import { describe, expect, it } from 'vitest';
import { tagging } from '../../../shared/documents/tagging.ts';
import { readTagging, type TagLimits } from '../../../shared/protocol/tags.ts';
import { codeOf, golden, namespace } from '../xml/golden.ts';

const tag = (key: string, value: string) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`;
const limits = { tags: 10, keyCharacters: 128, valueCharacters: 256 };
const read = (tags: string, other: Partial<TagLimits> = {}) =>
  readTagging(`<Tagging xmlns="${namespace}"><TagSet>${tags}</TagSet></Tagging>`, { ...limits, ...other });
const numbered = (count: number) => Array.from({ length: count }, (_, index) => tag(`k${index}`, 'v')).join('');

describe('Tagging', () => {
  it('is read', () => {
    expect(read(tag('a', '1') + tag('größe +-=._:/@', ''))).toEqual([
      { key: 'a', value: '1' },
      { key: 'größe +-=._:/@', value: '' },
    ]);
    expect(read('')).toEqual([]);
    expect(read(numbered(10))).toHaveLength(10);
    expect(read(numbered(50), { tags: 50 })).toHaveLength(50);
    expect(read(tag('𐐀'.repeat(128), '𐐀'.repeat(256)))).toHaveLength(1);
  });

  it.each([
    ['11 tags', numbered(11)],
    ['empty key', tag('', 'v')],
    ['key of 129', tag('k'.repeat(129), 'v')],
    ['value of 257', tag('k', 'v'.repeat(257))],
    ['forbidden character in a key', tag('k!', 'v')],
    ['forbidden character in a value', tag('k', 'v&lt;')],
    ['line feed', tag('k', 'a\nb')],
    ['reserved key', tag('aws:k', 'v')],
    ['reserved key in capitals', tag('AWS:k', 'v')],
    ['key twice', tag('k', '1') + tag('k', '2')],
  ])('%s → InvalidTag', (_, tags) => {
    expect(codeOf(() => read(tags))).toBe('InvalidTag');
  });

  it.each([
    ['no TagSet', '<Tagging/>'],
    ['two TagSets', '<Tagging><TagSet/><TagSet/></Tagging>'],
    ['other element', '<Tagging><TagSet><Other/></TagSet></Tagging>'],
    ['no value', '<Tagging><TagSet><Tag><Key>k</Key></Tag></TagSet></Tagging>'],
    ['no key', '<Tagging><TagSet><Tag><Value>k</Value></Tag></TagSet></Tagging>'],
    ['two keys', '<Tagging><TagSet><Tag><Key>k</Key><Key>k</Key><Value/></Tag></TagSet></Tagging>'],
    ['other root', '<TagSet/>'],
    ['nothing', ''],
  ])('%s → MalformedXML', (_, document) => {
    expect(codeOf(() => readTagging(document, limits))).toBe('MalformedXML');
  });

  it('is written', () => {
    expect(tagging.write([{ key: 'a', value: '1 & 2' }], namespace)).toBe(golden`
      <Tagging xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <TagSet><Tag><Key>a</Key><Value>1 &amp; 2</Value></Tag></TagSet>
      </Tagging>`);
    expect(tagging.write([], namespace)).toBe(
      golden`<Tagging xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><TagSet/></Tagging>`,
    );
  });
});
