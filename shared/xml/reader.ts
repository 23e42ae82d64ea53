import { SaxesParser, type SaxesTagNS } from 'saxes';
import { S3Error } from '../errors/s3-error.ts';
import { errorTable, type ErrorCode } from '../errors/table.ts';
import { atOnce, type EventLoopBudget } from '../ports/event-loop.ts';
import { containsStandIns, putStandIns, restoreControls } from './control-characters.ts';

/** The largest document any operation takes (CompleteMultipartUpload). Operations have smaller limits of their own. */
const maximumBytes = 4 * 1024 * 1024;
/** S3's own documents are at most 7 deep. */
const maximumDepth = 20;
/** 10,000 parts with every checksum S3 knows stay below this. */
const maximumElements = 100_000;
/** Far above what documents need, even if every element declares a namespace of its own. */
const maximumAttributes = 20_000;
/** All that one element has are read at once, when it begins. */
const maximumAttributesOfElement = 100;

const noAttributes: ReadonlyMap<string, string> = new Map();

/** What the elements of a document share: the error of whatever breaks its schema, which is known once the document is understood. */
interface Schema {
  fault: ErrorCode;
}

/**
 * One element of a document that was read, with strict accessors: whatever does not hold throws the error that the
 * document's schema asks for. Names are local names, since S3 takes its documents with any namespace or none.
 */
export class XmlElement {
  readonly name: string;
  /** By local name, without namespace declarations. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  readonly #text: string;
  readonly #schema: Schema;

  constructor(
    name: string,
    attributes: ReadonlyMap<string, string>,
    children: readonly XmlElement[],
    text: string,
    schema: Schema,
  ) {
    this.name = name;
    this.attributes = attributes;
    this.children = children;
    this.#text = text;
    this.#schema = schema;
  }

  /** The error of this document's schema, with a sentence on what is wrong. */
  fault(reason: string): S3Error {
    return faultOf(this.#schema.fault, reason);
  }

  /** The characters of an element that has no children, white space included. */
  get text(): string {
    if (this.children.length > 0) throw this.fault(`${this.name} must hold text only`);
    return this.#text;
  }

  /** All children of this name, in document order. */
  many(name: string): readonly XmlElement[] {
    return this.children.filter((child) => child.name === name);
  }

  /** The child of this name, if there is one. Two are a fault. */
  optional(name: string): XmlElement | undefined {
    let found: XmlElement | undefined;
    for (const child of this.children) {
      if (child.name !== name) continue;
      if (found !== undefined) throw this.fault(`${this.name} has more than one ${name}`);
      found = child;
    }
    return found;
  }

  /** The only child of this name. None or two are a fault. */
  one(name: string): XmlElement {
    const found = this.optional(name);
    if (found === undefined) throw this.fault(`${this.name} has no ${name}`);
    return found;
  }

  /** Refuses children of any other name. Where S3 tolerates unknown elements, do not call it. */
  onlyChildren(...names: readonly string[]): this {
    for (const child of this.children) {
      if (!names.includes(child.name)) throw this.fault(`${this.name} must not contain ${child.name}`);
    }
    return this;
  }

  /** The text as one of a few words, spelled exactly. */
  choice<const Word extends string>(...words: readonly Word[]): Word {
    const { text } = this;
    const word = words.find((candidate) => candidate === text);
    if (word === undefined) throw this.fault(`${this.name} must be one of ${words.join(', ')}`);
    return word;
  }

  /** The text as a whole number within bounds. White space around it is allowed, as in XML Schema. */
  integer({ minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = {}): number {
    const text = this.text.trim();
    const value = /^[+-]?\d+$/.test(text) ? Number(text) : NaN;
    if (!Number.isSafeInteger(value) || value < minimum || value > maximum) {
      throw this.fault(`${this.name} must be a whole number from ${minimum} to ${maximum}`);
    }
    return value + 0; // "-0" is 0
  }

  /** The text as a truth value: `true`, `false`, `1`, `0`, in any case since several clients write `True`. */
  boolean(): boolean {
    const text = this.text.trim().toLowerCase();
    if (text === 'true' || text === '1') return true;
    if (text === 'false' || text === '0') return false;
    throw this.fault(`${this.name} must be true or false`);
  }

  /** The text as `parse` understands it; undefined from `parse` is a fault. */
  parsed<Value>(parse: (text: string) => Value | undefined): Value {
    const value = parse(this.text);
    if (value === undefined) throw this.fault(`${this.name} has a malformed value`);
    return value;
  }
}

/** A document that was parsed and has still to be understood, by {@link readDocument}. */
export class XmlDocument {
  readonly root: XmlElement;
  readonly #schema: Schema;
  readonly #hasStandIns: boolean;

  constructor(root: XmlElement, schema: Schema, hasStandIns: boolean) {
    this.root = root;
    this.#schema = schema;
    this.#hasStandIns = hasStandIns;
  }

  /** Says what error breaking its schema is. */
  obeys(schemaFault: ErrorCode): void {
    this.#schema.fault = schemaFault;
  }

  /** A text of the document with the control characters that were kept. */
  restored(text: string): string {
    return this.#hasStandIns ? restoreControls(text) : text;
  }
}

/** A document as bytes of UTF-8 or text, which is parsed at once, or parsed already: whatever may be large. */
export type XmlSource = Uint8Array | string | XmlDocument;

/** How a document is parsed. */
export interface ParseOptions {
  /** Set if texts may hold control characters, which XML has no way to say: see {@link XmlDocument.restored}. */
  readonly keepsControls?: true;
}

/**
 * Parses the document of a request, given as UTF-8 bytes. Refuses whatever S3's documents never need and attackers do:
 * DOCTYPE, entities beyond the five predefined ones, processing instructions, other encodings, control characters, mixed
 * content, and excess of any kind. Nothing is ever fetched.
 *
 * @param budget shares the event loop with others while it is parsed
 * @throws S3Error MalformedXML
 */
export function parseXml(bytes: Uint8Array, budget: EventLoopBudget, options: ParseOptions = {}): Promise<XmlDocument> {
  return budget.run(parsing(bytes, options));
}

/** As {@link parseXml}, at once. What is parsed already is given back. @throws S3Error MalformedXML */
export function parsedXml(source: XmlSource, options: ParseOptions = {}): XmlDocument {
  return source instanceof XmlDocument ? source : atOnce(parsing(source, options));
}

/**
 * Reads a document: its root element, once it is what it must be.
 *
 * @param root the name that the root element must have
 * @param schemaFault what a well-formed document that breaks its schema answers (MalformedACLError for ACLs)
 * @throws S3Error MalformedXML, or `schemaFault`
 */
export function readDocument(source: XmlSource, root: string, schemaFault: ErrorCode = 'MalformedXML'): XmlElement {
  const document = parsedXml(source);
  document.obeys(schemaFault);
  if (document.root.name !== root) throw document.root.fault(`the root element must be ${root}`);
  return document.root;
}

interface OpenElement {
  readonly tag: SaxesTagNS;
  readonly children: XmlElement[];
  text: string;
}

/** Refused anywhere at all, even in comments and CDATA sections, where they would mean nothing. */
const documentType = '<!DOCTYPE';
const processingInstruction = /<\?(?!xml\s)/;

/** Characters that are parsed at once; the slowest take half a microsecond each. */
const charactersPerPiece = 4096;
const stepsPerPiece = charactersPerPiece / 2;
/** Texts are decoded, and searched for what must not be in them, at some thousand characters to a step. */
const stepsToDecode = (size: number): number => Math.ceil(size / 1000);

function* parsing(source: Uint8Array | string, { keepsControls }: ParseOptions): Generator<number, XmlDocument> {
  const text = decodeDocument(source);
  yield stepsToDecode(text.length);
  if (text.includes(documentType)) throw malformed('document type declarations are not allowed');
  if (processingInstruction.test(text)) throw malformed('processing instructions are not allowed');
  const hasStandIns = keepsControls === true && !containsStandIns(text);
  // In a CDATA section a reference means itself.
  const referencesToo = hasStandIns && !text.includes('<![CDATA[');
  yield stepsToDecode(4 * text.length);

  const schema: Schema = { fault: 'MalformedXML' };
  const tree = new TreeParser(schema);
  for (let at = 0; at < text.length;) {
    const piece = text.slice(at, at + charactersPerPiece);
    const end = referencesToo && at + piece.length < text.length ? endBeforeReference(piece) : piece.length;
    const whole = piece.slice(0, end);
    tree.write(hasStandIns ? putStandIns(whole, referencesToo) : whole);
    yield Math.ceil((stepsPerPiece * end) / charactersPerPiece);
    at += end;
  }
  return new XmlDocument(tree.end(), schema, hasStandIns);
}

/** Where a piece is to end so that no reference is cut in two: before one that begins in it and does not end. One that long is none. */
function endBeforeReference(piece: string): number {
  const reference = piece.lastIndexOf('&');
  return reference <= 0 || piece.includes(';', reference) ? piece.length : reference;
}

/** Makes a tree of a document that comes in pieces. */
class TreeParser {
  readonly #parser: SaxesParser<{ xmlns: true }>;
  #root: XmlElement | undefined;

  constructor(schema: Schema) {
    this.#parser = treeParser(schema, (root) => (this.#root = root));
  }

  write(piece: string): void {
    wellFormed(() => this.#parser.write(piece));
  }

  /** The root element. */
  end(): XmlElement {
    const { encoding } = this.#parser.xmlDecl;
    if (encoding !== undefined && encoding.toLowerCase() !== 'utf-8') throw malformed('the encoding must be UTF-8');
    wellFormed(() => this.#parser.close());
    if (this.#root === undefined) throw malformed('there is no root element');
    return this.#root;
  }
}

/** Without an error handler saxes throws at the first fault. */
function wellFormed(parse: () => unknown): void {
  try {
    parse();
  } catch (fault) {
    throw fault instanceof S3Error ? fault : malformed('it is not well-formed', fault);
  }
}

function treeParser(schema: Schema, finished: (root: XmlElement) => void): SaxesParser<{ xmlns: true }> {
  // XML 1.0 whatever the declaration says: 1.1 would turn U+0085 and U+2028 in keys into line feeds.
  // Handlers are few since V8 makes any parser with more than six properties added to it five times slower.
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
    const element = new XmlElement(tag.local, attributesOf(tag), children, text, schema);
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
    // Legal XML if the namespaces differ; but then two readers of it may see two different documents.
    if (attributes.has(local)) throw malformed(`${tag.local} has more than one attribute ${local}`);
    attributes.set(local, value);
  }
  return attributes ?? noAttributes;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The text of a document. One byte order mark of UTF-8 is left to the parser, which skips it; those of UTF-16 and UTF-32 are
 * not UTF-8.
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

function faultOf(code: ErrorCode, reason: string, cause?: unknown): S3Error {
  return new S3Error(code, { message: `${errorTable[code].message} Reason: ${reason}.`, cause });
}
