import { plainText } from './plain-text.ts';
import { checked, documentType, elements, integer, list, optional, some, someIfAny, type ValueOf } from './schema.ts';

const maximumIdLength = 255;

/** The methods that a rule can allow. */
export const corsMethods = ['GET', 'PUT', 'DELETE', 'POST', 'HEAD'] as const;

const id = checked(plainText, (text, element) => {
  if ([...text].length > maximumIdLength) throw element.invalid(`ID must have at most ${maximumIdLength} characters.`);
});

const notEmpty = checked(plainText, (text, element) => {
  if (text === '') throw element.fault(`${element.name} must not be empty`);
});

/** A text with at most one `*`. */
const pattern = checked(notEmpty, (text, element) => {
  if (text.indexOf('*') === text.lastIndexOf('*')) return;
  throw element.invalid(`${element.name} "${text}" can not have more than one wildcard.`);
});

const method = checked(plainText, (text, element) => {
  if (corsMethods.some((known) => known === text)) return;
  throw element.invalid(`Found unsupported HTTP method in CORS config. Unsupported method is ${text}`);
});

/** The name of a header. It is sent unchanged, and a header field carries only ASCII reliably. */
const exposed = checked(notEmpty, (text, element) => {
  if (!/^[ -~]*$/.test(text)) throw element.invalid(`${element.name} "${text}" contains invalid characters.`);
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_CORSRule.html */
const rule = elements({
  id: optional('ID', id),
  origins: some('AllowedOrigin', pattern),
  methods: some('AllowedMethod', method),
  /** The allowed request headers. */
  headers: someIfAny('AllowedHeader', pattern),
  /** The response headers that scripts may read. */
  expose: someIfAny('ExposeHeader', exposed),
  /** The number of seconds for which browsers may cache the response to a preflight request. */
  maxAge: optional('MaxAgeSeconds', integer({ minimum: 0, maximum: 2 ** 31 - 1 })),
});
export type CorsRule = ValueOf<typeof rule>;

/** The CORS rules of a bucket in their order, which decides. */
export const cors = documentType('CORSConfiguration', list('CORSRule', rule, 1));
