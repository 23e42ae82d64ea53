import { deepStrictEqual } from 'node:assert';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import { readMultipartForm } from '../../../shared/http/multipart-form.ts';
import { AwsChunkedDecoder, type Frame } from '../../../shared/signing/v4/aws-chunked.ts';
import { type Parser, isRefusal, bytesOf } from './parser.ts';

const hex = 'a'.repeat(64);

/** Bodies that are taken apart as they arrive. */
export const framing: Readonly<Record<string, Parser>> = {
  'aws-chunked': {
    pieces: [
      '3\r\nabc\r\n',
      '0\r\n',
      '\r\n',
      `;chunk-signature=${hex}`,
      '3',
      'abc',
      'x-amz-checksum-crc32:AAAAAA==',
      `x-amz-trailer-signature:${hex}`,
      '\n',
      '0'.repeat(14),
      'ffffffffffff',
      ':',
    ],
    around: ['', '0\r\n\r\n'],
    // Whole and byte by byte, it is the same.
    read: (text) => {
      const whole = framesOf([bytesOf(text)]);
      const pieces = framesOf(Array.from(bytesOf(text), (byte) => Buffer.of(byte)));
      deepStrictEqual(pieces, whole);
      if (whole.refused !== undefined) throw whole.refused;
      return whole;
    },
  },
  'multipart form': {
    pieces: [
      '--b\r\n',
      '--b--\r\n',
      'Content-Disposition: form-data; ',
      'name="key"',
      '; filename="a"',
      '\r\n\r\n',
      '\r\n',
      'name="file"',
      'a',
      '"',
      '\\',
      'Content-Type: text/plain',
      '--b',
      ': ',
    ],
    around: [
      '--b\r\nContent-Disposition: form-data; name="key"\r\n\r\nk\r\n--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n',
      '\r\n--b--\r\n',
    ],
    read: async (text) => {
      const whole = await formOf(bytesOf(text), bytesOf(text).length + 1);
      deepStrictEqual(await formOf(bytesOf(text), 1 + (text.length % 7)), whole);
      if (whole instanceof S3Error) throw whole;
      return whole;
    },
  },
};

function framesOf(pieces: readonly Uint8Array[]): { data: string; frames: Frame[]; refused?: S3Error } {
  const decoder = new AwsChunkedDecoder();
  const result: ReturnType<typeof framesOf> = { data: '', frames: [] };
  try {
    for (const piece of pieces) {
      for (const frame of decoder.decode(piece)) {
        if (frame.kind === 'data') result.data += Buffer.from(frame.bytes).toString('latin1');
        else result.frames.push(frame);
      }
    }
    decoder.end();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    // If a line as a whole is too long, less may have been decoded before the error.
    return { data: '', frames: [], refused: new S3Error(error.code, { message: '' }) };
  }
  return result;
}

async function formOf(bytes: Buffer, step: number): Promise<unknown> {
  const pieces = (async function* () {
    for (let at = 0; at < bytes.length; at += step) yield await Promise.resolve(bytes.subarray(at, at + step));
  })();
  try {
    const form = await readMultipartForm('multipart/form-data; boundary=b', pieces, 20_480);
    const content: Uint8Array[] = [];
    try {
      for await (const chunk of form.file) content.push(Buffer.from(chunk));
    } finally {
      await form.close();
    }
    return [form.fields, form.fileName, Buffer.concat(content).toString('latin1')];
  } catch (error) {
    if (isRefusal(error)) return new S3Error(error.code, { message: '' });
    throw error;
  }
}
