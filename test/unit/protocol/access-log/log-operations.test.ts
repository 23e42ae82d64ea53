import { expect, it } from 'vitest';
import { loggedOperation, loggedSource } from '../../../../shared/protocol/access-log/log-operations.ts';

it.each([
  ['GetObject', 'GET', 'REST.GET.OBJECT'],
  ['HeadObject', 'HEAD', 'REST.HEAD.OBJECT'],
  ['PutObject', 'PUT', 'REST.PUT.OBJECT'],
  ['PostObject', 'POST', 'REST.POST.OBJECT'],
  ['DeleteObject', 'DELETE', 'REST.DELETE.OBJECT'],
  ['DeleteObjects', 'POST', 'REST.POST.MULTI_OBJECT_DELETE'],
  ['CopyObject', 'PUT', 'REST.COPY.OBJECT'],
  ['CreateMultipartUpload', 'POST', 'REST.POST.UPLOADS'],
  ['UploadPart', 'PUT', 'REST.PUT.PART'],
  ['UploadPartCopy', 'PUT', 'REST.COPY.PART'],
  ['CompleteMultipartUpload', 'POST', 'REST.POST.UPLOAD'],
  ['AbortMultipartUpload', 'DELETE', 'REST.DELETE.UPLOAD'],
  ['ListParts', 'GET', 'REST.GET.UPLOAD'],
  ['ListMultipartUploads', 'GET', 'REST.GET.UPLOADS'],
  ['ListObjectsV2', 'GET', 'REST.GET.BUCKET'],
  ['ListObjectVersions', 'GET', 'REST.GET.BUCKETVERSIONS'],
  ['HeadBucket', 'HEAD', 'REST.HEAD.BUCKET'],
  ['GetBucketAcl', 'GET', 'REST.GET.ACL'],
  ['GetBucketLogging', 'GET', 'REST.GET.LOGGING_STATUS'],
  ['GetBucketPolicy', 'GET', 'REST.GET.BUCKETPOLICY'],
  ['GetBucketRequestPayment', 'GET', 'REST.GET.REQUEST_PAYMENT'],
  ['GetPublicAccessBlock', 'GET', 'REST.GET.PUBLIC_ACCESS_BLOCK'],
  ['GetBucketTagging', 'GET', 'REST.GET.TAGGING'],
  ['PutObjectTagging', 'PUT', 'REST.PUT.OBJECT_TAGGING'],
  ['Preflight', 'OPTIONS', 'REST.OPTIONS.PREFLIGHT'],
  ['GetWebsitePage', 'GET', 'WEBSITE.GET.OBJECT'],
  ['Unknown', 'PATCH', 'REST.PATCH.UNKNOWN'],
])('%s is %s', (operation, method, logged) => {
  expect(loggedOperation(operation, method)).toBe(logged);
});

it('names the source of a copy', () => {
  expect(loggedSource('CopyObject')).toBe('REST.COPY.OBJECT_GET');
  expect(loggedSource('UploadPartCopy')).toBe('REST.COPY.PART_GET');
});
