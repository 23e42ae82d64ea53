import { SaxesParser, type SaxesTagNS } from 'saxes';
import { XmlElement, type Reading } from '../documents/element.ts';
import type { DocumentType, ListContent } from '../documents/schema.ts';
import { S3Error, type PlainErrorCode } from '../errors/s3-error.ts';
import { errorTable } from '../errors/table.ts';
import { atOnce, type EventLoopBudget } from '../ports/event-loop.ts';
import { containsStandIns, putStandIns, restoreControls } from './control-characters.ts';

/** The size limit of the largest document (CompleteMultipartUpload), in bytes. Operations may have lower limits. */
const maximumBytes = 4 * 1024 * 1024;
/** S3's own documents have at most 7 levels. */
const maximumDepth = 20;
/** Enough for 10,000 parts with all checksums of S3. */
const maximumElements = 100_000;
/** Far more than documents need, even if every element declares a namespace. */
const maximumAttributes = 20_000;
/** All attributes of an element are read together, when it begins. */
const maximumAttributesOfElement = 100;

const noAttributes: ReadonlyMap<string, string> = new Map();

/** Reads a document strictly. Its schema error is set once the kind of document is known. */
class StrictReading implements Reading {
  readonly isStrict = true;
  code: PlainErrorCode = 'MalformedXML';

  fault(reason: string): S3Error {
    return faultOf(this.code, reason);
  }

  refusal(code: PlainErrorCode, message: string, details: Readonly<Record<string, string>>): S3Error {
    return new S3Error(code, { message, details });
  }
}

/** A parsed document, to be interpreted by {@link readDocument}. */
export class XmlDocument {
  readonly root: XmlElement;
  readonly #reading: StrictReading;
  readonly #hasStandIns: boolean;

  constructor(root: XmlElement, reading: StrictReading, hasStandIns: boolean) {
    this.root = root;
    this.#reading = reading;
    this.#hasStandIns = hasStandIns;
  }

  /** Returns the root element, which must have the name that the document declares. */
  rootOf({ root, fault }: Pick<DocumentType<unknown>, 'root' | 'fault'>): XmlElement {
    this.#reading.code = fault;
    if (this.root.name !== root) throw this.root.fault(`the root element must be ${root}`);
    return this.root;
  }

  /** Returns a text of the document with the control characters that were kept. */
  restored(text: string): string {
    return this.#hasStandIns ? restoreControls(text) : text;
  }
}

/** A document: UTF-8 bytes or text, to be parsed in one go, or already parsed if it may be large. */
export type XmlSource = Uint8Array | string | XmlDocument;

/** The parse options of a document. */
export interface ParseOptions {
  /** True if texts may contain control characters, which XML cannot represent: see {@link XmlDocument.restored}. */
  readonly keepsControls?: true;
}

/**
 * Parses the document of a request, given as UTF-8 bytes. Rejects what S3's documents never need and attackers use:
 * DOCTYPE, entities other than the five predefined ones, processing instructions, other encodings, control characters,
 * mixed content, and excess of any kind. Never fetches anything.
 *
 * @param budget shares the event loop with other work during parsing
 * @throws S3Error MalformedXML
 */
export function parseXml(bytes: Uint8Array, budget: EventLoopBudget, options: ParseOptions = {}): Promise<XmlDocument> {
  return budget.run(parsing(bytes, options));
}

/** Parses as {@link parseXml}, but in one go. Returns a parsed document unchanged. @throws S3Error MalformedXML */
export function parsedXml(source: XmlSource, options: ParseOptions = {}): XmlDocument {
  return source instanceof XmlDocument ? source : atOnce(parsing(source, options));
}

/** Reads a document as it is declared. @throws S3Error MalformedXML, or what the document declares */
export function readDocument<Value>(source: XmlSource, type: DocumentType<Value>): Value {
  return type.content.read(parsedXml(source).rootOf(type));
}

/**
 * Reads a document that is a long list.
 * @param most the maximum number of its elements
 * @param steps the cost of reading one, in steps
 * @throws S3Error MalformedXML, or what the document declares
 */
export async function readList<Value>(
  source: XmlSource,
  type: DocumentType<readonly Value[]> & { readonly content: ListContent<Value> },
  { most, steps }: { readonly most: number; readonly steps: number },
  budget: EventLoopBudget,
): Promise<Value[]> {
  const root = parsedXml(source).rootOf(type);
  const { itemsOf, item } = type.content;
  const items = itemsOf(root);
  if (items.length > most) throw root.fault(`there may be at most ${most} elements`);
  return budget.map(items, steps, (element) => item.read(element));
}

interface OpenElement {
  readonly tag: SaxesTagNS;
  readonly children: XmlElement[];
  text: string;
}

/** Rejected anywhere, even in comments and CDATA sections, where it has no meaning. */
const documentType = '<!DOCTYPE';
const processingInstruction = /<\?(?!xml\s)/;

/** The number of characters parsed in one go; the slowest take half a microsecond each. */
const charactersPerPiece = 600;
const stepsPerPiece = charactersPerPiece / 2;
/** The cost of decoding a text and searching it for forbidden content, at a thousand characters per step. */
const stepsToDecode = (size: number): number => Math.ceil(size / 1000);

function* parsing(source: Uint8Array | string, { keepsControls }: ParseOptions): Generator<number, XmlDocument> {
  const text = decodeDocument(source);
  yield stepsToDecode(text.length);
  if (text.includes(documentType)) throw malformed('document type declarations are not allowed');
  if (processingInstruction.test(text)) throw malformed('processing instructions are not allowed');
  const hasStandIns = keepsControls === true && !containsStandIns(text);
  // In a CDATA section a reference is literal text.
  const referencesToo = hasStandIns && !text.includes('<![CDATA[');
  yield stepsToDecode(4 * text.length);

  const reading = new StrictReading();
  const tree = new TreeParser(reading);
  for (let at = 0; at < text.length;) {
    const piece = text.slice(at, at + charactersPerPiece);
    const end = referencesToo && at + piece.length < text.length ? endBeforeReference(piece) : piece.length;
    const whole = piece.slice(0, end);
    tree.write(hasStandIns ? putStandIns(whole, referencesToo) : whole);
    yield Math.ceil((stepsPerPiece * end) / charactersPerPiece);
    at += end;
  }
  return new XmlDocument(tree.end(), reading, hasStandIns);
}

/**
 * Returns where to end a piece so that no reference is cut in two: before a reference that begins in it and does not
 * end. A reference as long as the piece is invalid anyway.
 */
function endBeforeReference(piece: string): number {
  const reference = piece.lastIndexOf('&');
  return reference <= 0 || piece.includes(';', reference) ? piece.length : reference;
}

/** Builds the tree of a document that is parsed in pieces. */
class TreeParser {
  readonly #parser: SaxesParser<{ xmlns: true }>;
  #root: XmlElement | undefined;

  constructor(reading: Reading) {
    this.#parser = treeParser(reading, (root) => (this.#root = root));
  }

  write(piece: string): void {
    wellFormed(() => this.#parser.write(piece));
  }

  /** Ends the document and returns its root element. */
  end(): XmlElement {
    const { encoding } = this.#parser.xmlDecl;
    if (encoding !== undefined && encoding.toLowerCase() !== 'utf-8') throw malformed('the encoding must be UTF-8');
    wellFormed(() => this.#parser.close());
    if (this.#root === undefined) throw malformed('there is no root element');
    return this.#root;
  }
}

/** Runs a parsing step and reports its errors. Without an error handler, saxes throws at the first one. */
function wellFormed(parse: () => unknown): void {
  try {
    parse();
  } catch (fault) {
    throw fault instanceof S3Error ? fault : malformed('it is not well-formed', fault);
  }
}

function treeParser(reading: Reading, finished: (root: XmlElement) => void): SaxesParser<{ xmlns: true }> {
  // XML 1.0 whatever the declaration says: 1.1 would turn U+0085 and U+2028 in keys into line feeds.
  // Few handlers, since V8 makes a parser with more than six added properties five times slower.
  const parser = new SaxesParser({ xmlns: true, position: false, forceXMLVersion: true, defaultXMLVersion: '1.0' });
  const open: OpenElement[] = [];
  let elements = 0;
  let attributes = 0;
  let attributesOfElement = 0;

  parser.on('attribute', () => {
    if (++attributes > maximumAttributes || ++attributesOfElement > maximumAttributesOfElement) {
      throw malformed('there are too many attributes');
    }
  });
  parser.on('opentag', (tag) => {
    if (open.length === maximumDepth) throw malformed('elements are nested too deeply');
    if (++elements > maximumElements) throw malformed('there are too many elements');
    attributesOfElement = 0;
    open.push({ tag, children: [], text: '' });
  });
  const appendText = (text: string): void => {
    const element = open.at(-1);
    if (element !== undefined) element.text += text;
  };
  parser.on('text', appendText);
  parser.on('cdata', appendText);
  parser.on('closetag', () => {
    const { tag, children, text } = open.pop()!;
    if (children.length > 0 && /[^ \t\r\n]/.test(text)) throw malformed(`${tag.local} mixes text and elements`);
    const element = new XmlElement(tag.local, attributesOf(tag), children, text, reading);
    const parent = open.at(-1);
    if (parent === undefined) finished(element);
    else parent.children.push(element);
  });

  return parser;
}

function attributesOf(tag: SaxesTagNS): ReadonlyMap<string, string> {
  let attributes: Map<string, string> | undefined;
  for (const { name, prefix, local, value } of Object.values(tag.attributes)) {
    if (prefix === 'xmlns' || name === 'xmlns') continue;
    attributes ??= new Map();
    // Legal XML if the namespaces differ, but two readers could then see two different documents.
    if (attributes.has(local)) throw malformed(`${tag.local} has more than one attribute ${local}`);
    attributes.set(local, value);
  }
  return attributes ?? noAttributes;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Decodes the text of a document. Leaves one UTF-8 byte order mark to the parser, which skips it; those of UTF-16 and
 * UTF-32 are not valid UTF-8.
 * @throws S3Error MalformedXML
 */
function decodeDocument(document: Uint8Array | string): string {
  if (document.length > maximumBytes) throw malformed('it is too large');
  if (typeof document === 'string') {
    if (/\p{Surrogate}/u.test(document)) throw malformed('it is not Unicode');
    return document;
  }
  try {
    return utf8.decode(document);
  } catch (cause) {
    throw malformed('it is not UTF-8', cause);
  }
}

function malformed(reason: string, cause?: unknown): S3Error {
  return faultOf('MalformedXML', reason, cause);
}

function faultOf(code: PlainErrorCode, reason: string, cause?: unknown): S3Error {
  return new S3Error(code, { message: `${errorTable[code].message} Reason: ${reason}.`, cause });
}
