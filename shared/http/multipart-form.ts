import { invalidArgument, S3Error } from '../errors/s3-error.ts';

/** A form read up to the content of its file. */
export interface MultipartForm {
  /** The fields before the file, in order and as sent; bytes as latin1 characters. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** The file name that the client gives, often with a path; bytes as latin1 characters. Undefined if absent. */
  readonly fileName: string | undefined;
  /**
   * The content of the file as it arrives. It ends only once the rest of the form has been read and found well-formed;
   * do not rely on any of it before.
   * @throws S3Error MalformedPOSTRequest, MaxPostPreDataLengthExceeded, InvalidArgument (a second file)
   */
  readonly file: AsyncIterable<Uint8Array>;
  /**
   * The number of bytes before and after the content of the file, if no part follows it and a line break ends the form, as browsers and
   * libraries send it.
   */
  readonly frame: number;
  /** Stops reading, whether or not the file was read. Must be called by the form's user. */
  close(): Promise<void>;
}

const lineBreak = Buffer.from('\r\n');
const emptyLine = Buffer.from('\r\n\r\n');
/** The bytes after the last boundary. */
const formEnd = '--\r\n';
const carriageReturn = 0x0d;

/**
 * Reads a multipart/form-data body (RFC 7578, RFC 2046 §5.1) up to the content of its file: the part named `file`, in
 * any case, with or without a file name. Later parts are read and ignored.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/RESTObjectPOST.html
 *
 * @param contentType of the request, which names the boundary
 * @param maximum total size of everything except the file's content, in bytes
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

/** Reads a form from its body chunk by chunk. Buffers at most one chunk and the fields. */
class FormReader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #delimiter: Buffer;
  /** Bytes received but not parsed. Starts with a line break, since the first boundary need not have one before it. */
  #unread: Buffer = lineBreak;
  /** The number of bytes still allowed besides the file's content. */
  #left: number;
  /** The number of bytes parsed, besides the file's content. */
  #consumed = 0;

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
      if (isFile(name)) {
        const frame = this.#consumed - lineBreak.length + this.#delimiter.length + formEnd.length;
        return { fields, fileName, file: this.#file(), frame, close: () => this.close() };
      }
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

  /** Yields the bytes before the next delimiter as they arrive. */
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

  /** Reads the parts after the file. S3 ignores them, but they must be well-formed. */
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

  /**
   * Tells, after a boundary, whether another part follows. Blanks may come between the boundary and the end of its
   * line.
   */
  async #hasAnother(): Promise<boolean> {
    while (this.#unread.length < 2) await this.#receive();
    if (this.#unread.subarray(0, 2).equals(Buffer.from('--'))) return false;
    const padding = (await this.#through(lineBreak)).toString('latin1');
    if (!/^[ \t]*$/.test(padding)) throw malformed('A boundary of the form must be followed by the end of its line.');
    return true;
  }

  /** Consumes the bytes up to and including a mark and returns those before it. */
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
    this.#consumed += bytes;
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

/**
 * Returns the index where a delimiter may begin at the end of the bytes, to be completed by the next chunk; otherwise
 * their length.
 */
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
// eslint-disable-next-line no-control-regex -- matches control characters on purpose
const controls = /[\x00-\x08\x0a-\x1f\x7f]/;

function parsePartHeaders(bytes: Buffer): { readonly name: string; readonly fileName: string | undefined } {
  const headers = new Map<string, string>();
  for (const line of bytes.toString('latin1').split('\r\n')) {
    const [name = '', ...rest] = line.split(':');
    if (rest.length === 0 || !token.test(name) || controls.test(line) || headers.has(name.toLowerCase())) {
      throw malformed('A part of the form has malformed headers.');
    }
    headers.set(name.toLowerCase(), rest.join(':').trim());
  }
  // Clients that encode the content, which RFC 7578 §4.7 deprecates, would have it stored encoded.
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
  /** In lower case. */
  readonly type: string;
  /** Names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Parses `type; name=value; name="value"`. Returns undefined if it does not have this form or repeats a name. */
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
    // A backslash escapes only a quote: some browsers send whole paths, `C:\folder\file`.
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
