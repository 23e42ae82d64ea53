import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMultipartForm } from '../../../shared/http/multipart-form.ts';
import { runs } from '../../support/runs/runs.ts';

/** https://www.rfc-editor.org/rfc/rfc7578 and https://www.rfc-editor.org/rfc/rfc2046#section-5.1 */

const boundary = '----x';
const type = `multipart/form-data; boundary=${boundary}`;

/** A part as it stands between two boundaries. */
function part(disposition: string, content: string | Uint8Array, headers = ''): Buffer {
  const head = `Content-Disposition: form-data; ${disposition}\r\n${headers}\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(content)]);
}

function form(parts: readonly Uint8Array[], { preamble = '', padding = '', end = '--\r\n' } = {}): Buffer {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const framed = parts.flatMap((one) => [delimiter, Buffer.from(`${padding}\r\n`), one]);
  return Buffer.concat([Buffer.from(preamble), ...framed, delimiter, Buffer.from(end)]).subarray(
    preamble === '' ? 2 : 0,
  );
}

const simple = (content: string | Uint8Array): Buffer =>
  form([part('name="key"', 'k'), part('name="file"; filename="f.txt"', content)]);

interface Read {
  readonly fields: readonly (readonly [string, string])[];
  readonly fileName: string | undefined;
  readonly content: Buffer;
  /** Whether the source ended or was closed. */
  readonly closed: boolean;
}

/** Reads a form that arrives in pieces of these sizes. */
async function read(
  body: Uint8Array,
  sizes: readonly number[] = [65536],
  contentType = type,
  maximum = 20480,
): Promise<Read> {
  let closed = false;
  const source = (async function* () {
    try {
      for (let at = 0, turn = 0; at < body.length; turn++) {
        const size = sizes[turn % sizes.length]!;
        yield body.subarray(at, at + size);
        at += size;
      }
    } finally {
      closed = true;
    }
  })();
  try {
    const { fields, fileName, file } = await readMultipartForm(contentType, source, maximum);
    const chunks: Uint8Array[] = [];
    for await (const chunk of file) chunks.push(Buffer.from(chunk));
    return { fields, fileName, content: Buffer.concat(chunks), closed };
  } catch (error) {
    if (body.length > 0 && !/Content-Type|boundary of the form/.test((error as Error).message))
      expect(closed).toBe(true);
    throw error;
  }
}

const refused = (code: string): unknown => expect.objectContaining({ name: 'S3Error', code, status: 400 });

describe('a form', () => {
  it('is read up to its file and then to its end', async () => {
    expect(await read(simple('content'))).toEqual({
      fields: [['key', 'k']],
      fileName: 'f.txt',
      content: Buffer.from('content'),
      closed: true,
    });
  });

  it('is what the platform makes of FormData', async () => {
    const data = new FormData();
    data.append('key', 'a"b\r\nc');
    data.append('empty', '');
    data.append('text', 'ünïcödé €');
    data.append('FILE', new Blob([new Uint8Array([0, 13, 10, 45, 45, 255])]), 'Ⅰ"name".bin');
    const message = new Response(data);
    const found = await read(new Uint8Array(await message.arrayBuffer()), [7], message.headers.get('content-type')!);
    const bytes = (text: string): string => Buffer.from(text).toString('latin1');
    expect(found).toMatchObject({
      fields: [
        ['key', 'a"b\r\nc'],
        ['empty', ''],
        ['text', bytes('ünïcödé €')],
      ],
      fileName: bytes('Ⅰ%22name%22.bin'),
      content: Buffer.from([0, 13, 10, 45, 45, 255]),
    });
  });

  it('is the same in whatever pieces it arrives, and whatever the file holds', async () => {
    const crumbs = fc.constantFrom(
      '\r',
      '\n',
      '-',
      '--',
      '\r\n',
      '\r\n-',
      '\r\n--',
      '\r\n----',
      '\r\n------',
      'x',
      'ab',
      '\r\n------y',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(crumbs, { maxLength: 40 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
        async (pieces, sizes) => {
          const content = pieces.join('').replaceAll(`\r\n--${boundary}`, '');
          fc.pre(!`${content}\r\n`.includes(`\r\n--${boundary}`));
          const found = await read(simple(content), sizes);
          expect(found.content.toString('latin1')).toBe(content);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it('may have its file without a name, and names for its fields as if they were files', async () => {
    const body = form([
      part('name="key"; filename="key"', 'k', 'Content-Type: application/octet-stream\r\n'),
      part('name="File"', 'content'),
    ]);
    expect(await read(body)).toMatchObject({
      fields: [['key', 'k']],
      fileName: undefined,
      content: Buffer.from('content'),
    });
  });

  it.each([
    ['a path', 'filename="C:\\folder\\f.txt"', 'C:\\folder\\f.txt'],
    ['escaped quotes', 'filename="a\\"b\\".txt"', 'a"b".txt'],
    ['semicolons', 'filename="a; name=b"', 'a; name=b'],
    ['no quotes', 'filename=f.txt', 'f.txt'],
    ['nothing', 'filename=""', ''],
    ['a semicolon after it', 'filename="f.txt" ; ', 'f.txt'],
  ])('has a file whose name has %s', async (_, disposition, name) => {
    expect((await read(form([part(`name="file"; ${disposition}`, 'x')]))).fileName).toBe(name);
  });

  it('may have a preamble, an epilogue, padding after boundaries, and no line break at its end', async () => {
    const parts = [part('name="key"', 'k'), part('name="file"', 'x')];
    const padded = form(parts, { preamble: 'For readers without MIME.', padding: ' \t', end: '-- \r\nepilogue\r\n' });
    expect((await read(padded)).content.toString()).toBe('x');
    expect((await read(form(parts, { end: '--' }))).content.toString()).toBe('x');
  });

  it('may have no content in its file, and fields of no content', async () => {
    const { fields, content } = await read(form([part('name="a"', ''), part('name="file"', '')]), [1]);
    expect({ fields, size: content.length }).toEqual({ fields: [['a', '']], size: 0 });
  });

  it('ignores parts after the file', async () => {
    const body = form([part('name="file"', 'x'), part('name="key"', 'late'), part('name="acl"', 'public-read')]);
    expect(await read(body, [5])).toMatchObject({ fields: [], content: Buffer.from('x') });
  });

  it('takes a quoted boundary, and any case', async () => {
    const contentType = 'Multipart/Form-Data; charset=utf-8; BOUNDARY="----x"';
    expect((await read(simple('x'), [9], contentType)).content.toString()).toBe('x');
  });

  it.each([
    'application/x-www-form-urlencoded',
    'multipart/mixed; boundary=----x',
    '',
    'multipart/form-data2; boundary=x',
  ])('is not what is of type "%s"', async (contentType) => {
    await expect(read(simple('x'), [9], contentType)).rejects.toEqual(refused('InvalidArgument'));
  });

  it.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
    'multipart/form-data; boundary="ends in a space "',
    'multipart/form-data; boundary="\u00e9"',
  ])('has no boundary in "%s"', async (contentType) => {
    await expect(read(simple('x'), [9], contentType)).rejects.toEqual(refused('MalformedPOSTRequest'));
  });

  it.each([
    ['no file', form([part('name="key"', 'k')])],
    ['no part', Buffer.from(`--${boundary}--`)],
    ['two files', form([part('name="file"', 'a'), part('name="file"', 'b')])],
    [
      'two files with something between',
      form([part('name="file"', 'a'), part('name="x"', ''), part('name="FILE"', 'b')]),
    ],
  ])('must have exactly one file: %s', async (_, body) => {
    await expect(read(body, [11])).rejects.toEqual(refused('InvalidArgument'));
    await expect(read(body)).rejects.toThrow('POST requires exactly one file upload per request.');
  });

  it.each([
    ['nothing at all', Buffer.alloc(0)],
    ['another boundary', Buffer.from('--other\r\n\r\n--other--')],
    ['no last boundary', simple('x').subarray(0, -4)],
    ['the end within a field', Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="key"\r\n\r\nk`)],
    ['the end within the headers of a part', Buffer.from(`--${boundary}\r\nContent-Disposition: form`)],
    ['the end after a boundary', Buffer.from(`--${boundary}`)],
    ['something after a boundary', Buffer.from(simple('x').toString().replace(boundary, `${boundary}y`))],
    ['bare line feeds', Buffer.from(simple('x').toString().replaceAll('\r\n', '\n'))],
    ['a part without headers', form([Buffer.from('\r\ncontent'), part('name="file"', 'x')])],
    ['a part without a disposition', form([Buffer.from('Content-Type: text/plain\r\n\r\nx')])],
    ['a part without a name', form([part('filename="f"', 'x')])],
    ['a part with two names', form([part('name="key"; name="file"', 'x')])],
    ['a part with two dispositions', form([part('name="a"', 'x', 'Content-Disposition: form-data; name="file"\r\n')])],
    ['another disposition', form([Buffer.from('Content-Disposition: attachment; name="file"\r\n\r\nx')])],
    ['a quote that does not end', form([part('name="file', 'x')])],
    ['a folded header', form([part('name="file"', 'x', 'Content-Type: text/plain;\r\n charset=utf-8\r\n')])],
    ['a line that is no header', form([part('name="file"', 'x', 'nonsense\r\n')])],
    ['a name with a line feed', form([part('name="a\nb"', 'x')])],
    ['an encoded part', form([part('name="file"', 'eA==', 'Content-Transfer-Encoding: base64\r\n')])],
  ])('must be well-formed: %s', async (_, body) => {
    await expect(read(body)).rejects.toEqual(refused('MalformedPOSTRequest'));
    await expect(read(body, [1])).rejects.toEqual(refused('MalformedPOSTRequest'));
  });

  it('may have as much beside the content of its file as is allowed, and not a byte more', async () => {
    const content = Buffer.alloc(100_000, 'x');
    for (const body of [
      simple(content),
      form([part('name="file"', content), part('name="after"', 'y')]),
      form([part('name="file"', content)], { end: '-- epilogue' }),
    ]) {
      const beside = body.length - content.length;
      expect((await read(body, [1000], type, beside)).content.length).toBe(content.length);
      const tooMuch = refused('MaxPostPreDataLengthExceeded');
      await expect(read(body, [1000], type, beside - 1)).rejects.toEqual(tooMuch);
      await expect(read(body, [body.length], type, beside - 1)).rejects.toEqual(tooMuch);
    }
  });

  it('is not read on when there is too much beside its file', async () => {
    let taken = 0;
    const endless = (async function* () {
      yield Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="key"\r\n\r\n`);
      for (;;) {
        taken += 1024;
        yield new Uint8Array(1024);
      }
    })();
    await expect(readMultipartForm(type, endless, 20480)).rejects.toEqual(refused('MaxPostPreDataLengthExceeded'));
    expect(taken).toBeLessThanOrEqual(22 * 1024);
  });

  it('passes the failure of its source on', async () => {
    const source = (async function* () {
      yield simple('x').subarray(0, -10);
      throw new Error('the client is gone');
    })();
    const { file } = await readMultipartForm(type, source, 20480);
    const readAll = async (): Promise<void> => {
      for await (const _ of file);
    };
    await expect(readAll()).rejects.toThrow('the client is gone');
  });

  it.each(['before', 'within'])('lets go of its source when it is closed %s its file', async (when) => {
    let closed = false;
    const source = (async function* () {
      try {
        yield simple('content').subarray(0, -20);
        yield simple('content').subarray(-20);
      } finally {
        closed = true;
      }
    })();
    const found = await readMultipartForm(type, source, 20480);
    if (when === 'within') for await (const _ of found.file) break;
    expect(closed).toBe(when === 'within');
    await found.close();
    expect(closed).toBe(true);
  });
});
