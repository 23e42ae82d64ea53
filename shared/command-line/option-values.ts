import { InvalidArgumentError } from 'commander';
import * as z from 'zod/mini';
import { AccountRefusal } from '../access/account-names.ts';
import { S3Error } from '../errors/s3-error.ts';
import { checkBucketName } from '../http/bucket-name.ts';
import { isOrigin } from '../protocol/console/origins.ts';
import { networkOf } from '../node-http/connections/trusted-proxies.ts';

/*
 * The types of options, as schemas. Each refuses what cannot be meant, so that a slip is noticed before anything happens. A message
 * completes `error: option '--port <n>' argument 'x' is invalid.`
 */

/** The type of an option: what is given, and the value that it is read as. */
export type ValueType<Value, Given = unknown> = z.ZodMiniType<Value, Given>;

/** Reads a value by its type. @throws InvalidArgumentError with the reason of a refusal */
export function readAs<Value>(type: ValueType<Value>, given: unknown): Value {
  const { success, data, error } = z.safeParse(type, given);
  if (success) return data;
  throw new InvalidArgumentError(error.issues[0]!.message);
}

/**
 * Declares a type that is read from text.
 * @param convert returns the value, or what `refuse` returns for a reason
 */
export function read<Value, Given = string>(
  convert: (text: string, refuse: (reason: string) => never) => Value,
): ValueType<Value, Given> {
  const converted = z.transform((given: Given, { issues }) =>
    convert(String(given), (message) => {
      issues.push({ code: 'custom', message, input: given });
      return z.NEVER;
    }),
  );
  return z.pipe(z.custom<Given>(), converted);
}

/** Declares a text. Nothing else may stand for it. */
function text(pattern: RegExp, refusal: string): ValueType<string, string> {
  return z.string('Must be a string.').check(z.regex(pattern, refusal));
}

/** The path of a file or directory. */
export const path = text(/^[^\0]+$/, 'Must be the path of a file or directory.');

/** An address to listen on, or a name of one. */
export const host = text(
  /^(?:[A-Za-z0-9._-]+|[\dA-Fa-f]*:[\dA-Fa-f]*:[\dA-Fa-f:.]*(?:%[\w.-]+)?)$/,
  'Must be an address or a host name, without a scheme or a port; 0.0.0.0: all.',
);

const domainRefusal = 'Must be a domain name such as s3.example.com, without a scheme, a port or a path.';

/** The name of a domain: https://www.rfc-editor.org/rfc/rfc1123#section-2.1. */
export const domain = text(
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i,
  domainRefusal,
).check(z.maxLength(253, domainRefusal));

/** The name of a region. */
export const region = text(
  /^[A-Za-z0-9-]{1,63}$/,
  'Must be the name of a region: up to 63 letters, digits and hyphens.',
);

/** A stage of a cloud deployment, or the name or the ARN of its function. */
export const deployment = text(
  /^(?:arn:[\w:/$-]+|[\w-]{1,140}(?::[\w$-]+)?)$/,
  'Must be the stage of a deployment, or the name or the ARN of its function.',
);

/** A URI that stands in XML. */
export const uri = text(
  /^[A-Za-z][A-Za-z0-9+.-]*:[^\s"'<>&\p{Cc}]+$/u,
  'Must be a URI such as http://s3.amazonaws.com/doc/2006-03-01/, without quotes or blanks.',
);

/** A scheme, a host and an optional path, without a trailing slash. */
export const publicUrl = read((given, refuse) => {
  const url = URL.parse(given);
  const isPlain = url && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    return refuse('Must be an http or https URL without query or credentials, such as https://s3.example.com.');
  }
  return url.href.replace(/(?<!\/)\/+$/, '');
});

/** A database of PostgreSQL: https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING-URIS */
export const postgresUrl = read((given, refuse) => {
  const url = URL.parse(given);
  if (url && /^postgres(?:ql)?:$/.test(url.protocol) && url.pathname.length > 1) return given;
  return refuse('Must be like postgres://user@host:5432/database?schema=stillage; the password is best in PGPASSWORD.');
});

/** A number. @param isOne tells whether it may be that, as it is written */
export function number(isOne: (value: number, digits: string) => boolean, refusal: string): ValueType<number, number> {
  return read((digits, refuse) => (isOne(Number(digits), digits) ? Number(digits) : refuse(refusal)));
}

/** The number of a port. */
export const port = number(
  (value, digits) => /^\d+$/.test(digits) && value <= 65_535,
  'Must be a port number, from 0 to 65535.',
);

/** A whole number from 1. */
export function countTo(most: number): ValueType<number, number> {
  return number(
    (value, digits) => /^\d+$/.test(digits) && value >= 1 && value <= most,
    `Must be a whole number from 1 to ${most}.`,
  );
}

/**
 * A text that the service would accept.
 * @param check throws AccountRefusal or S3Error for what is refused
 */
export function checked(check: (value: string) => unknown): ValueType<string, string> {
  return read((value, refuse) => {
    try {
      check(value);
      return value;
    } catch (error) {
      if (!(error instanceof AccountRefusal || error instanceof S3Error)) throw error;
      return refuse(error.message.replace(/\.?$/, '.'));
    }
  });
}

/** Values separated by commas. */
export function list(item: ValueType<string, string>): ValueType<readonly string[], readonly string[]> {
  return z.pipe(
    read<string[], readonly string[]>((values) => values.split(',').map((one) => one.trim())),
    z.array(item),
  );
}

/** Values separated by commas, of which some may be empty. */
export function names(item: ValueType<string, string>): ValueType<readonly string[], readonly string[]> {
  return z.pipe(
    read<string[], readonly string[]>((values, refuse) => {
      const given = values.split(',').map((one) => one.trim());
      return given.some((name) => name !== '') ? given.filter((name) => name !== '') : refuse('Must not be empty.');
    }),
    z.array(item),
  );
}

/** The name of a bucket. */
export const bucketName = checked(checkBucketName);

/** A range of addresses. */
export const network = read((value, refuse) =>
  networkOf(value) ? value : refuse(`"${value}" is not an address range such as 10.0.0.0/8.`),
);

/** An origin of web pages. */
export const origin = read((value, refuse) =>
  isOrigin(value)
    ? value
    : refuse(
        'Must be an origin such as https://console.example.com: a scheme, a host in lower case, and a port if not the default one.',
      ),
);

/** The target of a connection. */
export const hostAndPort = read((value, refuse) => {
  const target = value.toLowerCase();
  if (/^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\]):\d{1,5}$/.test(target)) return target;
  return refuse('Must be a host and a port, such as hooks.internal:443.');
});

/** The beginning of keys. */
export const keyPrefix = checked((text) => {
  if (text !== '' && Buffer.byteLength(text) <= 1024 && !/\p{Cc}/u.test(text)) return;
  throw new AccountRefusal('a prefix must have 1 to 1024 bytes, none of them a control character');
});
