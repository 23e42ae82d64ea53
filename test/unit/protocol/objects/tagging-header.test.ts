import { describe, expect, it } from 'vitest';
import { parseTaggingHeader } from '../../../../shared/protocol/objects/upload-headers.ts';
import { codeOf } from '../../xml/golden.ts';

const limits = { tags: 10, keyCharacters: 128, valueCharacters: 256 };
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `k${at}=v`).join('&');

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html#AmazonS3-PutObject-request-header-Tagging */
describe('x-amz-tagging', () => {
  it.each<[string | undefined, [string, string][]]>([
    [undefined, []],
    ['', []],
    ['&', []],
    ['a=1', [['a', '1']]],
    ['a', [['a', '']]],
    ['a=', [['a', '']]],
    [
      'b=2&a=1',
      [
        ['b', '2'],
        ['a', '1'],
      ],
    ],
    ['a=b=c', [['a', 'b=c']]],
    ['a+b=c+d', [['a b', 'c d']]],
    ['a%2Bb=c%2Bd', [['a+b', 'c+d']]],
    ['gr%C3%B6%C3%9Fe=%E5%A4%A7', [['größe', '大']]],
    [Buffer.from('größe=大', 'utf8').toString('latin1'), [['größe', '大']]],
    ['__proto__=x', [['__proto__', 'x']]],
  ])('%j', (value, tags) => {
    expect(parseTaggingHeader(value, limits)).toEqual(tags);
  });

  it.each([
    ['=v', 'InvalidTag'],
    ['a=1&a=2', 'InvalidTag'],
    ['a=1&%61=2', 'InvalidTag'],
    ['aws:a=1', 'InvalidTag'],
    ['a=%3C', 'InvalidTag'],
    [`${'k'.repeat(129)}=v`, 'InvalidTag'],
    [`k=${'v'.repeat(257)}`, 'InvalidTag'],
    [numbered(11), 'InvalidTag'],
    ['a=%', 'InvalidArgument'],
    ['a=%zz', 'InvalidArgument'],
    ['a=%ff', 'InvalidArgument'],
  ])('%j → %s', (value, code) => {
    expect(codeOf(() => parseTaggingHeader(value, limits))).toBe(code);
  });

  it('has as many tags as there may be', () => {
    expect(parseTaggingHeader(numbered(10), limits)).toHaveLength(10);
    expect(codeOf(() => parseTaggingHeader('a=1&b=2', { ...limits, tags: 1 }))).toBe('InvalidTag');
  });
});
