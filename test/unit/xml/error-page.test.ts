import { expect, it } from 'vitest';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import { errorPage } from '../../../shared/xml/error-page.ts';

it('an error page tells code, message and ids, and escapes whatever came from elsewhere', () => {
  const error = new S3Error('NoSuchKey', { details: { Key: '<img src=x onerror="alert(1)">&\'' } });
  const page = errorPage(error, { requestId: 'tx1', hostId: 'host' });
  expect(page).toContain('<title>404 NoSuchKey</title>');
  expect(page).toContain('<li>Code: NoSuchKey</li>');
  expect(page).toContain('<li>Message: The specified key does not exist.</li>');
  expect(page).toContain('<li>RequestId: tx1</li>');
  expect(page).toContain('<li>Key: &lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;');
  expect(page).not.toContain('<img');
});
