import { InvalidArgumentError, type Option } from 'commander';
import { setting } from './setting.ts';

/** Returns the option for the base URL that clients reach the service at. */
export function publicUrlOption(): Option {
  return setting(
    '--public-url <url>',
    'base URL of public links, as clients reach the service',
    'PUBLIC_URL',
    undefined,
    'the address of each request',
  ).argParser(readPublicUrl);
}

/** Reads a scheme, a host and an optional path. Returns them without a trailing slash. @throws InvalidArgumentError */
export function readPublicUrl(value: string): string {
  const url = URL.parse(value);
  const isPlain = url && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError(
      'Must be an http or https URL without query or credentials, such as https://s3.example.com.',
    );
  }
  return url.href.replace(/(?<!\/)\/+$/, '');
}
