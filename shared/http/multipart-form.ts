import { invalidArgument, S3Error } from '../errors/s3-error.ts';

/** A form that was read up to the content of its file. */
export interface MultipartForm {
  /** Name and value of every field before the file, in order, as sent; bytes as latin1 characters. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** What the client calls the file, often with a path; bytes as latin1 characters. Undefined if it does not say. */
  readonly fileName: string | undefined;
  /**
   * The content of the file as it arrives. It ends only after the rest of the form was read and found well-formed; until
   * then nothing of it may be believed.
   * @throws S3Error MalformedPOSTRequest, MaxPostPreDataLengthExceeded, InvalidArgument (a second file)
   */
  readonly file: AsyncIterable<Uint8Array>;
  /** Stops reading, whether the file was read or not. To be called by whoever asked for the form. */
  close(): Promise<void>;
}

const lineBreak = Buffer.from('\r\n');
const emptyLine = Buffer.from('\r\n\r\n');
const carriageReturn = 0x0d;

/**
 * Reads a body of multipart/form-data (RFC 7578, RFC 2046 §5.1) up to the content of its file: the part with the name
 * `file`, in any case, whether or not it has a file name. Parts after it are read and ignored.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/RESTObjectPOST.html
 *
 * @param contentType of the request: names the boundary
 * @param maximum the most bytes that may stand beside the content of the file
 * @throws S3Error InvalidArgument (not a form, no file), MalformedPOSTRequest, MaxPostPreDataLengthExceeded
 */
export async function readMultipartForm(
  contentType: string | undefined,
  body: AsyncIterable<Uint8Array>,
  maximum: number,
): Promise<MultipartForm> {
  const reader = new FormReader(body, boundaryOf(contentType), maximum);
  try {
    return await reader.open();
  } catch (error) {
    await reader.close();
    throw error;
  }
}

function boundaryOf(contentType = ''): string {
  const value = parseParameterised(contentType);
  if (value?.type !== 'multipart/form-data') {
    const message = 'The Content-Type of the request must be multipart/form-data.';
    throw invalidArgument('Content-Type', contentType, message);
  }
  const boundary = value.parameters.get('boundary') ?? '';
  if (!/^[\x20-\x7e]{0,69}[\x21-\x7e]$/.test(boundary))
    throw malformed('The boundary of the form is missing or invalid.');
  return boundary;
}

/** Pulls a form from its body piece by piece; holds no more of it than one piece and the fields. */
class FormReader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #delimiter: Buffer;
  /** What was received and not yet understood. The first boundary needs no line break before it: one is put there. */
  #unread: Buffer = lineBreak;
  /** How many bytes may still come beside the content of the file. */
  #left: number;

  constructor(body: AsyncIterable<Uint8Array>, boundary: string, maximum: number) {
    this.#source = body[Symbol.asyncIterator]();
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
    this.#left = maximum + lineBreak.length;
  }

  async open(): Promise<MultipartForm> {
    const fields: [string, string][] = [];
    await this.#through(this.#delimiter);
    while (await this.#hasAnother()) {
      const { name, fileName } = parsePartHeaders(await this.#through(emptyLine));
      if (isFile(name)) return { fields, fileName, file: this.#file(), close: () => this.close() };
      fields.push([name, (await this.#through(this.#delimiter)).toString('latin1')]);
    }
    throw notOneFile();
  }

  async close(): Promise<void> {
    await this.#source.return?.().catch(() => undefined);
  }

  async *#file(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#content();
      await this.#readRest();
    } finally {
      await this.close();
    }
  }

  /** What comes before the next delimiter, handed on as it arrives. */
  async *#content(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = this.#unread.indexOf(this.#delimiter);
      const end = at < 0 ? beginningOf(this.#delimiter, this.#unread) : at;
      const bytes = this.#unread.subarray(0, end);
      this.#unread = this.#unread.subarray(at < 0 ? end : at + this.#delimiter.length);
      if (bytes.length > 0) yield bytes;
      if (at >= 0) {
        this.#spend(this.#delimiter.length);
        return;
      }
      await this.#receive();
    }
  }

  /** Reads what comes after the file. S3 ignores it, but it must be the rest of a form. */
  async #readRest(): Promise<void> {
    while (await this.#hasAnother()) {
      if (isFile(parsePartHeaders(await this.#through(emptyLine)).name)) throw notOneFile();
      await this.#through(this.#delimiter);
    }
    do {
      this.#spend(this.#unread.length);
      this.#unread = Buffer.alloc(0);
    } while (await this.#receivedMore());
  }

  /** After a boundary: whether it begins another part. Blanks may stand between it and the end of its line. */
  async #hasAnother(): Promise<boolean> {
    while (this.#unread.length < 2) await this.#receive();
    if (this.#unread.subarray(0, 2).equals(Buffer.from('--'))) return false;
    const padding = (await this.#through(lineBreak)).toString('latin1');
    if (!/^[ \t]*$/.test(padding)) throw malformed('A boundary of the form does not end its line.');
    return true;
  }

  /** What comes before a mark; takes the mark too. */
  async #through(mark: Buffer): Promise<Buffer> {
    for (let searched = 0; ;) {
      const at = this.#unread.indexOf(mark, searched);
      if (at >= 0) {
        const bytes = this.#unread.subarray(0, at);
        this.#unread = this.#unread.subarray(at + mark.length);
        this.#spend(at + mark.length);
        return bytes;
      }
      if (this.#unread.length > this.#left) throw tooMuch();
      searched = Math.max(0, this.#unread.length - mark.length + 1);
      await this.#receive();
    }
  }

  #spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw tooMuch();
  }

  async #receive(): Promise<void> {
    if (!(await this.#receivedMore())) throw malformed('The form ended before its last boundary.');
  }

  async #receivedMore(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done === true) return false;
    const { buffer, byteOffset, byteLength } = next.value;
    const piece = Buffer.from(buffer, byteOffset, byteLength);
    this.#unread = this.#unread.length === 0 ? piece : Buffer.concat([this.#unread, piece]);
    return true;
  }
}

/** Where at the end of the bytes a delimiter begins that the next piece could complete; else their length. */
function beginningOf(delimiter: Buffer, bytes: Buffer): number {
  const first = Math.max(0, bytes.length - delimiter.length + 1);
  for (let at = bytes.indexOf(carriageReturn, first); at >= 0; at = bytes.indexOf(carriageReturn, at + 1)) {
    if (bytes.subarray(at).equals(delimiter.subarray(0, bytes.length - at))) return at;
  }
  return bytes.length;
}

function isFile(name: string): boolean {
  return name.toLowerCase() === 'file';
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const controls = /[\x00-\x08\x0a-\x1f\x7f]/;

function parsePartHeaders(bytes: Buffer): { readonly name: string; readonly fileName: string | undefined } {
  const headers = new Map<string, string>();
  for (const line of bytes.toString('latin1').split('\r\n')) {
    const [name = '', ...rest] = line.split(':');
    if (rest.length === 0 || !token.test(name) || controls.test(line) || headers.has(name.toLowerCase())) {
      throw malformed('A part of the form has a head that is not well-formed.');
    }
    headers.set(name.toLowerCase(), rest.join(':').trim());
  }
  // Whoever encodes the content (RFC 7578 §4.7 tells not to) would get back what was never meant.
  if (!/^(?:7bit|8bit|binary)$/i.test(headers.get('content-transfer-encoding') ?? 'binary')) {
    throw malformed('The parts of the form must not have a transfer encoding.');
  }
  const disposition = parseParameterised(headers.get('content-disposition') ?? '');
  const name = disposition?.parameters.get('name');
  if (disposition?.type !== 'form-data' || name === undefined) {
    throw malformed('A part of the form has no name.');
  }
  return { name, fileName: disposition.parameters.get('filename') };
}

interface Parameterised {
  /** Lower case. */
  readonly type: string;
  /** Names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Takes `type; name=value; name="value"` apart; undefined if it is not of that form or a name comes twice. */
function parseParameterised(text: string): Parameterised | undefined {
  const type = /^[^\s;]+/.exec(text)?.[0] ?? '';
  const parameters = new Map<string, string>();
  const parameter = /\s*;\s*(?:([^\s"=;]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s";]*))\s*)?/y;
  parameter.lastIndex = type.length;
  while (parameter.lastIndex < text.length) {
    const match = parameter.exec(text);
    if (!match) return undefined;
    const [, name, quoted, bare] = match;
    if (name === undefined) continue;
    if (parameters.has(name.toLowerCase())) return undefined;
    // A backslash escapes a quote only: some browsers send whole paths, `C:\folder\file`.
    parameters.set(name.toLowerCase(), quoted?.replaceAll('\\"', '"') ?? bare!);
  }
  return { type: type.toLowerCase(), parameters };
}

function malformed(message: string): S3Error {
  return new S3Error('MalformedPOSTRequest', { message });
}

function tooMuch(): S3Error {
  return new S3Error('MaxPostPreDataLengthExceeded');
}

function notOneFile(): S3Error {
  return new S3Error('InvalidArgument', {
    message: 'POST requires exactly one file upload per request.',
    details: { ArgumentName: 'file', ArgumentValue: '' },
  });
}
