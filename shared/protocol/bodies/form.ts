import { invalidArgument, S3Error } from '../../errors/s3-error.ts';
import { trimBlanks } from '../../http/fields/field-syntax.ts';
import { baseName } from '../../http/fields/content-disposition.ts';
import { Fields } from '../../http/message.ts';
import { readMultipartForm, type MultipartForm } from '../../http/multipart-form.ts';

/** The fields of a form before its file. Names in lower case; values are bytes as latin1 characters. */
export interface Form {
  /** Every field before the file, with `${filename}` replaced by the name of the file. */
  readonly fields: Fields;
  /** The field `key`, never empty; bytes as latin1 characters. */
  readonly key: string;
  /** The fields that correspond to header fields of an upload, under the names of those headers. */
  readonly headers: Fields;
}

const fileNameVariable = '${filename}';

/** A form whose file has not been read. */
export interface OpenForm extends Form, Pick<MultipartForm, 'file' | 'frame' | 'close'> {}

/**
 * Reads a form up to the content of its file.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTForms.html
 *
 * @param maximum size of the form without the content of its file, and of the names and values of its fields after
 *   `${filename}` is replaced, in bytes
 * @throws S3Error as {@link readMultipartForm}, MaxPostPreDataLengthExceeded, and InvalidArgument for a form without a
 *   key, and for a field that is repeated or cannot be a header field
 */
export async function openForm(
  contentType: string | undefined,
  body: AsyncIterable<Uint8Array>,
  maximum: number,
): Promise<OpenForm> {
  const form = await readMultipartForm(contentType, body, maximum);
  try {
    const fields = new Fields();
    const fileName = baseName(form.fileName ?? '') ?? '';
    let size = 0;
    for (const [name, value] of form.fields) {
      // With two values, different readers could use different ones.
      if (fields.has(name.toLowerCase()) && !/^x-ignore-/i.test(name))
        throw invalidArgument(name, value, `The form has two fields named '${name}'.`);
      const pieces = value.split(fileNameVariable);
      // Counted before the text is built: a few kilobytes can expand to megabytes.
      size += name.length + value.length + (pieces.length - 1) * (fileName.length - fileNameVariable.length);
      if (size > maximum) throw new S3Error('MaxPostPreDataLengthExceeded');
      fields.add(name, pieces.join(fileName));
    }
    const key = keyOf(fields);
    return { fields, key, headers: headersOf(fields), file: form.file, frame: form.frame, close: () => form.close() };
  } catch (error) {
    await form.close();
    throw error;
  }
}

/**
 * Returns the key. A form without one is refused before its policy is evaluated, as in Ceph RGW, so that the error
 * names the actual fault.
 */
function keyOf(fields: Fields): string {
  const key = fields.get('key');
  if (key) return key;
  throw invalidArgument(
    'key',
    '',
    "Bucket POST must contain a field named 'key'. If it is specified, please check the order of the fields.",
  );
}

const headerNames: ReadonlySet<string> = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-md5',
  'content-type',
  'expires',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
]);

/** The credentials of the form, and fields that would declare the file to be framed. */
const noHeaders: ReadonlySet<string> = new Set([
  'x-amz-algorithm',
  'x-amz-content-sha256',
  'x-amz-credential',
  'x-amz-date',
  'x-amz-decoded-content-length',
  'x-amz-signature',
  'x-amz-trailer',
]);

const token = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
// eslint-disable-next-line no-control-regex -- matches control characters on purpose
const controls = /[\x00-\x08\x0a-\x1f\x7f]/;

/**
 * Returns the fields as headers. Real headers have passed a parser that lets no line break through; form fields have
 * not, but end up in response headers.
 */
function headersOf(fields: Fields): Fields {
  const headers = new Fields();
  for (const [name, value] of fields) {
    if (!headerNames.has(name) && (!name.startsWith('x-amz-') || noHeaders.has(name)) && name !== 'acl') continue;
    if (!token.test(name) || controls.test(value)) {
      throw invalidArgument(name, value, 'The form has a field with control characters.');
    }
    headers.add(name === 'acl' ? 'x-amz-acl' : name, trimBlanks(value));
  }
  return headers;
}
