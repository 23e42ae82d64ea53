import { escapeXml } from '../documents/text.ts';
import type { S3Error } from '../errors/s3-error.ts';

/**
 * Returns the HTML page that a website without a custom error document shows. Escapes all text from the visitor and the
 * bucket, since a key may look like markup.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/CustomErrorDocSupport.html
 */
export function errorPage(
  error: Pick<S3Error, 'status' | 'code' | 'message' | 'details'>,
  { requestId, hostId }: { readonly requestId: string; readonly hostId: string },
): string {
  const rows = { Code: error.code, Message: error.message, ...error.details, RequestId: requestId, HostId: hostId };
  const items = Object.entries(rows).map(([name, value]) => `<li>${escapeXml(name)}: ${escapeXml(value)}</li>\n`);
  const title = `${error.status} ${error.code}`;
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title></head>
<body>
<h1>${title}</h1>
<ul>
${items.join('')}</ul>
</body>
</html>
`;
}
