import type { S3Address } from '../ports/s3-endpoint.ts';
import { read } from './option-values.ts';

/** Where an S3 is reached, of an address without its bucket. @returns undefined for what makes no sense */
export function s3AddressOf(text: string): S3Address | undefined {
  const url = text.startsWith('s3://') ? URL.parse(text) : undefined;
  if (!url || url.username !== '' || url.port !== '' || url.hash !== '') return undefined;
  const { endpoint, region, ...others } = Object.fromEntries(url.searchParams);
  const isReachable = endpoint === undefined || /^https?:$/.test(URL.parse(endpoint)?.protocol ?? '');
  if (!isReachable || Object.keys(others).length > 0) return undefined;
  const prefix = decoded(url.pathname)?.replace(/^\//, '');
  if (prefix === undefined) return undefined;
  const bucket = url.host === '' ? undefined : url.host;
  return bucket === undefined && prefix !== '' ? undefined : { bucket, prefix, endpoint, region };
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

const refusal =
  "Must be like s3://bucket?endpoint=https://s3.example.com&region=us-east-1, without a bucket for all of them; credentials are those of AWS's SDK.";

/** The address of an S3, or of a bucket in it, as text. */
export const s3Address = read((text, refuse) => (s3AddressOf(text) === undefined ? refuse(refusal) : text));
