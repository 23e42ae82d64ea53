import { InvalidArgumentError, type Option } from 'commander';
import { setting } from './setting.ts';

/** The option that says where clients reach the service, for URLs that it writes. */
export function publicUrlOption(): Option {
  return setting(
    '--public-url <url>',
    'where clients reach the service, for public links (default: where each request was sent)',
    'PUBLIC_URL',
  ).argParser(readPublicUrl);
}

/** Scheme, host and perhaps a path, without a slash at the end. @throws InvalidArgumentError */
export function readPublicUrl(value: string): string {
  const url = URL.parse(value);
  const isPlain = url && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError('An address as clients write it, such as https://objects.example.com');
  }
  return url.href.replace(/(?<!\/)\/+$/, '');
}
