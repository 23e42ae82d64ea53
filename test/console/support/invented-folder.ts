import type { Page } from 'playwright-core';

/** Shows a page a bucket of this many keys, in place of the service. The number in each key is its size in bytes. */
export async function inventedFolder(
  page: Page,
  under: { readonly origin: string; readonly service: { readonly url: string } },
  count: number,
): Promise<{ readonly bucket: string }> {
  const bucket = 'invented';
  const headers = {
    'access-control-allow-origin': under.origin,
    'access-control-allow-headers': '*',
    'access-control-allow-methods': '*',
    'access-control-expose-headers': '*',
    'access-control-max-age': '7200',
  };
  const digits = String(count - 1).length < 7 ? 7 : String(count).length;
  await page.route(`${under.service.url}/${bucket}?**`, (route) => {
    const query = new URL(route.request().url()).searchParams;
    if (query.get('list-type') !== '2') return route.fulfill({ status: 404, headers, body: '' });
    const start = Number(query.get('continuation-token') ?? 0);
    const end = Math.min(start + 1_000, count);
    const contents = Array.from({ length: end - start }, (_, index) => {
      const number = start + index;
      const key = `key-${String(number).padStart(digits, '0')}`;
      return `<Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>&quot;e&quot;</ETag><Size>${number}</Size></Contents>`;
    }).join('');
    const next = end < count ? `<NextContinuationToken>${end}</NextContinuationToken>` : '';
    const body = `<?xml version="1.0"?><ListBucketResult>${contents}${next}</ListBucketResult>`;
    return route.fulfill({ status: 200, headers, contentType: 'application/xml', body });
  });
  return { bucket };
}
