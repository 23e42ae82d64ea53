import { describe, expect, it } from 'vitest';
import { contentTypeOf, kindOf, pathOf, visibleName } from '../../../../console/format/names.ts';

describe('a name as it is shown', () => {
  it('keeps the marks that join letters and emoji where writing needs them', () => {
    for (const name of ['می\u200cخواهم.txt', 'क्\u200dष', '👩\u200d👩\u200d👧.png', '❤️\u200d🔥', '👩🏽\u200d🚀']) {
      expect(visibleName(name)).toBe(name);
    }
  });

  it('shows all other marks that cannot be seen', () => {
    for (const mark of ['\u200d', '\u200c', '\u202e', '\u200b', '\ufeff']) {
      expect(visibleName(`in${mark}voice`)).toBe('in\ufffdvoice');
      expect(visibleName(`${mark}a`)).toBe('\ufffda');
    }
    expect(visibleName('سلام\u202eabc')).toBe('سلام\ufffdabc');
    expect(visibleName('a\u0007')).toBe('a\u2407');
  });
});

describe('the suffix of a name', () => {
  it('is looked up among those that are known, and nothing else', () => {
    expect([contentTypeOf('a.PNG', ''), contentTypeOf('a.png', 'text/x')]).toEqual(['image/png', 'text/x']);
    expect(kindOf('a.png')).toBe('image');
    for (const name of ['x.constructor', 'x.__proto__', 'x.toString', 'valueOf']) {
      expect([contentTypeOf(name, ''), kindOf(name)]).toEqual(['application/octet-stream', 'file']);
    }
  });
});

describe('a path', () => {
  it('is a bucket and a key, also as a URI', () => {
    for (const text of ['b/a/c.txt', ' s3://b/a/c.txt ', '/b/a/c.txt', 'S3://b/a/c.txt']) {
      expect(pathOf(text)).toEqual({ bucket: 'b', path: 'a/c.txt' });
    }
    expect(pathOf('s3://b')).toEqual({ bucket: 'b', path: '' });
    expect(pathOf('b//d/')).toEqual({ bucket: 'b', path: '/d/' });
    expect(pathOf('')).toEqual({ bucket: '', path: '' });
  });
});
