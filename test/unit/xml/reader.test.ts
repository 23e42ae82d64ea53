import { describe, expect, it } from 'vitest';
import type { XmlElement } from '../../../shared/documents/element.ts';
import {
  boolean,
  documentType,
  integer,
  oneOf,
  only,
  parsed,
  unread,
  type Content,
} from '../../../shared/documents/schema.ts';
import { S3Error, type PlainErrorCode } from '../../../shared/errors/s3-error.ts';
import { readDocument, type XmlSource } from '../../../shared/xml/reader.ts';
import { expectLinear } from '../../support/runs/growth.ts';

function faultOf(read: () => unknown): S3Error {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(S3Error);
    return error as S3Error;
  }
  throw new Error('nothing was thrown');
}

/** Reads the root element of a document, which must be R. */
function rootOf(source: XmlSource, fault: PlainErrorCode = 'MalformedXML'): XmlElement {
  return readDocument(source, documentType('R', unread, fault));
}

function inner(xml: string): XmlElement {
  return rootOf(`<R>${xml}</R>`);
}

/** Reads a text that is declared so. */
function read<Value>(content: Content<Value>, text: string): Value {
  return readDocument(`<R><A>${text}</A></R>`, documentType('R', only('A', content)));
}

describe('a document', () => {
  it('is read into names, attributes and text', () => {
    const root = rootOf(
      '<?xml version="1.0" encoding="UTF-8"?>\n' +
        '<R xmlns="urn:s3" xmlns:x="urn:x"><!-- c --><A x:type="Group" plain="1">a &amp;&lt;&gt;&quot;&apos; &#x1F600;&#233;</A><x:B/> </R>\n',
    );
    expect(root.children.map(({ name }) => name)).toEqual(['A', 'B']);
    expect(root.one('A').text).toBe('a &<>"\' 😀é');
    expect([...root.one('A').attributes]).toEqual([
      ['type', 'Group'],
      ['plain', '1'],
    ]);
    expect(root.attributes.size).toBe(0);
  });

  it('keeps white space in text, joins CDATA and what comments part', () => {
    expect(inner('<A>  a<!-- x -->b <![CDATA[<&>]]> </A>').one('A').text).toBe('  ab <&> ');
  });

  it('may come as bytes, with the byte order mark of UTF-8', () => {
    expect(rootOf(Buffer.from('\ufeff<R>é</R>')).text).toBe('é');
  });

  it('may declare XML 1.1, but line ends stay those of 1.0', () => {
    expect(rootOf('<?xml version="1.1"?><R>a\u2028b</R>').text).toBe('a\u2028b');
  });

  it('must have the root that is asked for, and tells why not', () => {
    expect(faultOf(() => rootOf('<Other/>')).message).toContain('the root element must be R');
  });

  it('answers another code for its schema if asked to, and MalformedXML if not well-formed', () => {
    const acl = rootOf('<R><A/><A/></R>', 'MalformedACLError');
    expect(faultOf(() => acl.one('A')).code).toBe('MalformedACLError');
    expect(faultOf(() => rootOf('<X/>', 'MalformedACLError')).code).toBe('MalformedACLError');
    expect(faultOf(() => rootOf('<R>', 'MalformedACLError')).code).toBe('MalformedXML');
  });
});

describe('attacks are MalformedXML', () => {
  const laughs =
    '<!DOCTYPE lolz [<!ENTITY lol "lol">' +
    Array.from({ length: 9 }, (_, at) => `<!ENTITY lol${at + 1} "${`&lol${at || ''};`.repeat(10)}">`).join('') +
    ']><R>&lol9;</R>';
  const utf16 = (text: string, mark: string) => Buffer.from(mark + text, 'utf16le');

  it.each<[string, string | Uint8Array]>([
    ['billion laughs', laughs],
    ['external entity', '<!DOCTYPE R [<!ENTITY x SYSTEM "file:///etc/passwd">]><R>&x;</R>'],
    ['external DTD', '<!DOCTYPE R SYSTEM "http://169.254.169.254/x.dtd"><R/>'],
    ['plain DTD', '<!DOCTYPE R><R/>'],
    ['parameter entity', '<!DOCTYPE R [<!ENTITY % p SYSTEM "http://x/">%p;]><R/>'],
    ['undefined entity', '<R>&nbsp;</R>'],
    ['bare ampersand', '<R>a & b</R>'],
    ['reference to a control character', '<R>&#x1;</R>'],
    ['reference to NUL', '<R>&#0;</R>'],
    ['reference to a surrogate', '<R>&#xD800;</R>'],
    ['reference beyond Unicode', '<R>&#x110000;</R>'],
    ['endless reference', `<R>&#${'9'.repeat(100_000)};</R>`],
    ['processing instruction', '<R><?php x?></R>'],
    ['style sheet', '<?xml-stylesheet href="x"?><R/>'],
    ['declaration inside', '<R><?xml version="1.0"?></R>'],
    ['declaration of another encoding', '<?xml version="1.0" encoding="UTF-16"?><R/>'],
    ['declaration of UTF-7', '<?xml version="1.0" encoding="UTF-7"?><R>+ADw-x+AD4-</R>'],
    ['UTF-16 with its mark', utf16('<R/>', '\ufeff')],
    ['UTF-16 without', utf16('<R/>', '')],
    ['UTF-16 big endian', utf16('<R/>', '\ufeff').swap16()],
    ['two byte order marks', Buffer.from('\ufeff\ufeff<R/>')],
    ['invalid UTF-8', Buffer.from([0x3c, 0x52, 0x3e, 0xc3, 0x28, 0x3c, 0x2f, 0x52, 0x3e])],
    ['overlong UTF-8', Buffer.from([0x3c, 0x52, 0x3e, 0xc0, 0xaf, 0x3c, 0x2f, 0x52, 0x3e])],
    ['surrogate in UTF-8', Buffer.from([0x3c, 0x52, 0x3e, 0xed, 0xa0, 0x80, 0x3c, 0x2f, 0x52, 0x3e])],
    ['unpaired surrogate', '<R>\ud800</R>'],
    ['control character', '<R>\u0001</R>'],
    ['control character as XML 1.1 has it', '<?xml version="1.1"?><R>&#x1;</R>'],
    ['NUL', '<R>\0</R>'],
    ['noncharacter', '<R>\uffff</R>'],
    ['100 deep', `${'<R>'.repeat(100)}${'</R>'.repeat(100)}`],
    ['21 deep', `${'<R>'.repeat(21)}${'</R>'.repeat(21)}`],
    ['very deep, unclosed', '<R>'.repeat(1_000_000)],
    ['two roots', '<R/><R/>'],
    ['text behind the root', '<R/>x'],
    ['no root', '<!-- nothing -->'],
    ['nothing', ''],
    ['only a declaration', '<?xml version="1.0"?>'],
    ['JSON', '{"R":1}'],
    ['unclosed', '<R><A></A>'],
    ['wrongly nested', '<R><A></R></A>'],
    ['unbound prefix', '<x:R/>'],
    ['unbound prefix of an attribute', '<R xsi:type="Group"/>'],
    ['attribute twice', '<R a="1" a="2"/>'],
    ['attribute twice by another prefix', '<R xmlns:a="urn:1" xmlns:b="urn:1" a:t="1" b:t="2"/>'],
    ['attribute twice by local name', '<R xmlns:a="urn:1" xmlns:b="urn:2" a:t="1" b:t="2"/>'],
    ['attribute without quotes', '<R a=1/>'],
    ['text among elements', '<R>x<A/></R>'],
    ['comment with two hyphens', '<R><!-- a -- b --></R>'],
  ])('%s', (_, document) => {
    expect(faultOf(() => rootOf(document)).code).toBe('MalformedXML');
  });

  it.each([
    ['text', 10_000_000, (size: number) => `<R>${'x'.repeat(size)}</R>`],
    ['elements', 2_500_000, (size: number) => `<R>${'<A/>'.repeat(size)}</R>`],
    ['attributes', 300_000, (size: number) => `<R${Array.from({ length: size }, (_, at) => ` a${at}=""`).join('')}/>`],
    ['open brackets', 4_000_000, (size: number) => '<'.repeat(size)],
    ['white space', 4_000_000, (size: number) => ' '.repeat(size)],
    ['an unclosed comment', 4_000_000, (size: number) => `<R><!--${'-'.repeat(size)}`],
    ['an unclosed DOCTYPE', 250_000, (size: number) => `<!DOCTYPE R [${'<!ENTITY a "b">'.repeat(size)}`],
  ])('a lot of %s, in linear time', (_, most, written) => {
    const documents = new Map([most / 16, most].map((size) => [size, Buffer.from(written(size))]));
    const read = (size: number): unknown => rootOf(documents.get(size)!);
    expect(faultOf(() => read(most)).code).toBe('MalformedXML');
    expectLinear(most / 16, (size) => {
      try {
        read(size);
      } catch {
        // Only the largest is more than any document may have.
      }
    });
  });

  it('nothing reaches a prototype', () => {
    const root = rootOf('<R __proto__="x" constructor="y"><__proto__>1</__proto__></R>');
    expect(root.attributes.get('__proto__')).toBe('x');
    expect(root.one('__proto__').text).toBe('1');
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
    expect(root.optional('constructor')).toBeUndefined();
  });
});

describe('accessors', () => {
  it('one and optional refuse a second, one refuses none', () => {
    expect(inner('<A>1</A>').one('A').text).toBe('1');
    expect(inner('').optional('A')).toBeUndefined();
    expect(faultOf(() => inner('<A/><A/>').one('A')).code).toBe('MalformedXML');
    expect(faultOf(() => inner('<A/><B/><A/>').optional('A')).message).toContain('R has more than one A');
    expect(faultOf(() => inner('<B/>').one('A')).message).toContain('R has no A');
  });

  it('many gives all in order', () => {
    expect(
      inner('<A>1</A><B/><A>2</A>')
        .many('A')
        .map(({ text }) => text),
    ).toEqual(['1', '2']);
  });

  it('onlyChildren refuses others', () => {
    expect(inner('<A/><B/>').onlyChildren((name) => 'AB'.includes(name)).children).toHaveLength(2);
    expect(faultOf(() => inner('<A/><C/>').onlyChildren((name) => 'AB'.includes(name))).message).toContain(
      'R must not contain C',
    );
    expect(faultOf(() => inner(' x ').onlyChildren(() => true)).message).toContain('R must hold elements, not a text');
    expect(inner('\n').onlyChildren(() => false).children).toEqual([]);
  });

  it('text refuses children', () => {
    expect(faultOf(() => inner('<A/>').text).code).toBe('MalformedXML');
  });

  it('choice takes exact words', () => {
    expect(read(oneOf('Enabled', 'Disabled'), 'Enabled')).toBe('Enabled');
    for (const wrong of ['enabled', ' Enabled', '', 'Other']) {
      expect(faultOf(() => read(oneOf('Enabled'), wrong)).code).toBe('MalformedXML');
    }
  });

  it.each([
    ['0', 0],
    ['-0', 0],
    ['+7', 7],
    [' 42\n', 42],
    ['007', 7],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('integer reads %j', (text, value) => {
    expect(read(integer(), text)).toBe(value);
  });

  it.each(['', ' ', 'NaN', 'Infinity', '1.0', '1e3', '0x10', '1 2', '١', '--1', '9007199254740992', '9'.repeat(400)])(
    'integer refuses %j',
    (text) => {
      expect(faultOf(() => read(integer(), text)).code).toBe('MalformedXML');
    },
  );

  it('integer keeps its bounds', () => {
    expect(read(integer({ minimum: 5, maximum: 5 }), '5')).toBe(5);
    expect(faultOf(() => read(integer({ minimum: 5 }), '4')).code).toBe('MalformedXML');
    expect(faultOf(() => read(integer({ maximum: 5 }), '6')).code).toBe('MalformedXML');
  });

  it('boolean reads true, false, 1, 0 in any case', () => {
    for (const text of ['true', 'True', ' TRUE ', '1']) expect(read(boolean, text)).toBe(true);
    for (const text of ['false', 'False', '0']) expect(read(boolean, text)).toBe(false);
    for (const text of ['', 'yes', 'truefalse', '2']) {
      expect(faultOf(() => read(boolean, text)).code).toBe('MalformedXML');
    }
  });

  it('parsed takes what its parser takes', () => {
    const even = parsed((text) => (Number(text) % 2 === 0 ? Number(text) : undefined), String);
    expect(read(even, '4')).toBe(4);
    expect(faultOf(() => read(even, '3')).code).toBe('MalformedXML');
  });
});
