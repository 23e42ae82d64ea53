import { S3Error } from '../errors/s3-error.ts';
import { plainText } from './plain-text.ts';
import { readDocument, type XmlElement, type XmlSource } from './reader.ts';
import { document, type XmlElements } from './writer.ts';

/** A CORS rule. https://docs.aws.amazon.com/AmazonS3/latest/API/API_CORSRule.html */
export interface CorsRule {
  readonly id?: string;
  /** Each with at most one `*`. */
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  /** The allowed request headers, each with at most one `*`. */
  readonly headers?: readonly string[];
  /** The response headers that scripts may read. */
  readonly expose?: readonly string[];
  /** The number of seconds for which browsers may cache the response to a preflight request. */
  readonly maxAge?: number;
}

const maximumIdLength = 255;
const maximumMaxAge = 2 ** 31 - 1;
const methods: ReadonlySet<string> = new Set(['GET', 'PUT', 'POST', 'DELETE', 'HEAD']);

/**
 * Reads `<CORSConfiguration>`.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketCors.html
 * @param maximumRules the maximum number of rules
 * @throws S3Error MalformedXML, InvalidRequest
 */
export function readCorsConfiguration(body: XmlSource, maximumRules: number): readonly CorsRule[] {
  const root = readDocument(body, 'CORSConfiguration').onlyChildren('CORSRule');
  const elements = root.many('CORSRule');
  if (elements.length === 0) throw root.fault('there must be a CORSRule');
  if (elements.length > maximumRules) {
    throw invalid(`The number of CORS rules should not exceed allowed limit of ${maximumRules} rules.`);
  }
  return elements.map(readRule);
}

function readRule(rule: XmlElement): CorsRule {
  rule.onlyChildren('ID', 'AllowedOrigin', 'AllowedMethod', 'AllowedHeader', 'ExposeHeader', 'MaxAgeSeconds');
  const id = rule.optional('ID');
  const headers = rule.many('AllowedHeader').map(readPattern);
  const expose = rule.many('ExposeHeader').map(readExposed);
  const maxAge = rule.optional('MaxAgeSeconds')?.integer({ minimum: 0, maximum: maximumMaxAge });
  return {
    ...(id && { id: readId(id) }),
    origins: some(rule, 'AllowedOrigin').map(readPattern),
    methods: some(rule, 'AllowedMethod').map(readMethod),
    ...(headers.length > 0 && { headers }),
    ...(expose.length > 0 && { expose }),
    ...(maxAge !== undefined && { maxAge }),
  };
}

function some(rule: XmlElement, name: string): readonly XmlElement[] {
  const found = rule.many(name);
  if (found.length === 0) throw rule.fault(`${rule.name} has no ${name}`);
  return found;
}

function readId(element: XmlElement): string {
  const id = plainText(element);
  if ([...id].length > maximumIdLength) throw invalid(`ID must have at most ${maximumIdLength} characters.`);
  return id;
}

function readPattern(element: XmlElement): string {
  const pattern = plainText(element);
  if (pattern === '') throw element.fault(`${element.name} must not be empty`);
  if (pattern.indexOf('*') !== pattern.lastIndexOf('*')) {
    throw invalid(`${element.name} "${pattern}" can not have more than one wildcard.`);
  }
  return pattern;
}

function readMethod(element: XmlElement): string {
  const method = plainText(element);
  if (!methods.has(method)) {
    throw invalid(`Found unsupported HTTP method in CORS config. Unsupported method is ${method}`);
  }
  return method;
}

/** Reads a header name. It is sent unchanged, and a header field carries only ASCII reliably. */
function readExposed(element: XmlElement): string {
  const name = plainText(element);
  if (name === '') throw element.fault(`${element.name} must not be empty`);
  if (!/^[ -~]*$/.test(name)) throw invalid(`${element.name} "${name}" contains invalid characters.`);
  return name;
}

function invalid(message: string): S3Error {
  return new S3Error('InvalidRequest', { message });
}

/** Returns the response body of GetBucketCors. */
export function corsDocument(rules: readonly CorsRule[], namespace: string): string {
  return document('CORSConfiguration', namespace, { CORSRule: rules.map(ruleElements) });
}

function ruleElements({ id, origins, methods: allowed, headers, expose, maxAge }: CorsRule): XmlElements {
  return {
    ID: id,
    AllowedOrigin: origins,
    AllowedMethod: allowed,
    AllowedHeader: headers,
    ExposeHeader: expose,
    MaxAgeSeconds: maxAge,
  };
}
