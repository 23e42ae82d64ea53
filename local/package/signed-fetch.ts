import { createHash, createHmac } from 'node:crypto';
import type { ClientConfig } from './index.ts';

/**
 * Sends a request signed with Signature Version 4.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 * @param target the path and, after a question mark, the name of one subresource; both percent-encoded
 * @throws Error with the response unless it is successful
 */
export async function signedFetch(
  { endpoint, region, credentials }: ClientConfig,
  method: string,
  target: string,
  body: Uint8Array,
): Promise<void> {
  const [path = '', query] = target.split('?', 2);
  const date = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const digest = createHash('sha256').update(body).digest('hex');
  const headers = {
    'content-md5': createHash('md5').update(body).digest('base64'),
    host: new URL(endpoint).host,
    'x-amz-content-sha256': digest,
    'x-amz-date': date,
  };
  const names = Object.keys(headers).join(';');
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const canonical = [method, path, query === undefined ? '' : `${query}=`, lines.join(''), names, digest].join('\n');
  const scope = `${date.slice(0, 8)}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', date, scope, createHash('sha256').update(canonical).digest('hex')].join('\n');
  const key = scope
    .split('/')
    .reduce<string | Buffer>(
      (key, part) => createHmac('sha256', key).update(part).digest(),
      `AWS4${credentials.secretAccessKey}`,
    );
  const signature = createHmac('sha256', key).update(text).digest('hex');
  const { host: _, ...sent } = headers;
  const response = await fetch(`${endpoint}${target}`, {
    method,
    body,
    headers: {
      ...sent,
      authorization: `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
    },
  });
  if (!response.ok) throw new Error(`${method} ${target}: ${response.status} ${await response.text()}`);
}
