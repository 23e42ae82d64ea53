import { InvalidArgumentError } from 'commander';

/*
 * Parsers of options. Each refuses what cannot be meant, so that a slip is noticed before anything happens.
 */

/** Reads the path of a file or directory. @throws InvalidArgumentError if it is empty */
export function path(value: string): string {
  if (value !== '' && !value.includes('\0')) return value;
  throw new InvalidArgumentError('Must be the path of a file or directory.');
}

/** Reads an address to listen on, or a name of one. @throws InvalidArgumentError */
export function host(value: string): string {
  if (/^[A-Za-z0-9._:%-]+$/.test(value)) return value;
  throw new InvalidArgumentError('Must be an address or a host name, without a scheme or a port; 0.0.0.0: all.');
}

/** Reads the name of a domain: https://www.rfc-editor.org/rfc/rfc1123#section-2.1. @throws InvalidArgumentError */
export function domain(value: string): string {
  const isName = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i.test(value);
  if (isName && value.length <= 253) return value;
  throw new InvalidArgumentError('Must be a domain name such as s3.example.com, without a scheme, a port or a path.');
}

const regionForm = /^[A-Za-z0-9-]{1,63}$/;

/** Reads the name of a region. @throws InvalidArgumentError */
export function region(value: string): string {
  if (regionForm.test(value)) return value;
  throw new InvalidArgumentError('Must be the name of a region: up to 63 letters, digits and hyphens.');
}

/** Reads a URI that stands in XML. @throws InvalidArgumentError */
export function uri(value: string): string {
  if (/^[A-Za-z][A-Za-z0-9+.-]*:[^\s"'<>&\p{Cc}]+$/u.test(value)) return value;
  throw new InvalidArgumentError(
    'Must be a URI such as http://s3.amazonaws.com/doc/2006-03-01/, without quotes or blanks.',
  );
}

/** Reads the number of a port. @throws InvalidArgumentError */
export function port(value: string): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number <= 65_535) return number;
  throw new InvalidArgumentError('Must be a port number, from 0 to 65535.');
}

/** Reads a whole number from 1. @param most the largest @throws InvalidArgumentError */
export function countTo(most: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= 1 && number <= most) return number;
    throw new InvalidArgumentError(`Must be a whole number from 1 to ${most}.`);
  };
}

const ofTexts: ReadonlySet<unknown> = new Set([path, host, domain, region, uri]);

/** Tells whether a parser reads a text: nothing else may stand for it. */
export function isOfText(parser: unknown): boolean {
  return ofTexts.has(parser);
}
