import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { document, escapeXml, tag, timestamp } from '../../../shared/documents/text.ts';
import { parsedXml } from '../../../shared/xml/reader.ts';

describe('document', () => {
  it('has a declaration, and a namespace if there is one', () => {
    expect(document('Root', 'urn:"n"', tag('A', 'a'))).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<Root xmlns="urn:&quot;n&quot;"><A>a</A></Root>',
    );
    expect(document('Root', undefined, '')).toBe('<?xml version="1.0" encoding="UTF-8"?>\n<Root/>');
  });
});

describe('escapeXml', () => {
  it.each([
    [`&<>"'`, `&amp;&lt;&gt;&quot;'`],
    ['\u0001\u001f', '&#x1;&#x1F;'],
    ['\t\n\r', '&#x9;&#xA;&#13;'],
    ['\ufffe\uffff', '&#xFFFE;&#xFFFF;'],
    ['\0', '\ufffd'],
    ['a\ud800b\udc00', 'a\ufffdb\ufffd'],
    ['é\u0085\u2028😀\u{10ffff}', 'é\u0085\u2028😀\u{10ffff}'],
    ['&amp;', '&amp;amp;'],
  ])('%j → %j', (text, escaped) => {
    expect(escapeXml(text)).toBe(escaped);
  });

  it('is undone by the reader, for every text XML can carry', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        // eslint-disable-next-line no-control-regex
        fc.pre(!/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(text));
        const xml = document('R', undefined, tag('A', escapeXml(text), ` a="${escapeXml(text)}"`));
        const read = parsedXml(xml).root.one('A');
        expect(read.text).toBe(text);
        expect(read.attributes.get('a')).toBe(text);
      }),
    );
  });
});

it('timestamp is as ISO 8601 has it, whatever day came before', () => {
  const times = [
    0,
    1,
    86_399_999,
    86_400_000,
    Date.UTC(2026, 10, 20, 9, 5, 7, 8),
    Date.UTC(2024, 1, 29),
    951_782_400_000 - 1,
  ];
  for (const time of [...times, ...times.toReversed(), -1, -86_400_001]) {
    expect(timestamp(time)).toBe(new Date(time).toISOString());
  }
});

it('timestamp has milliseconds', () => {
  expect(timestamp(Date.UTC(2026, 10, 20, 10))).toBe('2026-11-20T10:00:00.000Z');
});
