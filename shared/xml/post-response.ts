import { document, quoted } from './writer.ts';

/**
 * Returns the response body of PostObject if the form asks for status 201. Its root has no namespace, as in S3.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/RESTObjectPOST.html
 */
export function postResponse(posted: {
  readonly location: string;
  readonly bucket: string;
  readonly key: string;
  /** Without quotes. */
  readonly etag: string;
}): string {
  return document('PostResponse', undefined, {
    Location: posted.location,
    Bucket: posted.bucket,
    Key: posted.key,
    ETag: quoted(posted.etag),
  });
}
